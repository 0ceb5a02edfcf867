// Tell what waits for a scroll that there was one.
() => {
  scrollTo(0, 1e9);
  for (const target of [document, globalThis]) target.dispatchEvent(new Event("scroll", { bubbles: true }));
}
