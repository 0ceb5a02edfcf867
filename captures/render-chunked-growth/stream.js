const chunks = [
  "The verdict came in five parts, as the judge had promised, with a pause for water after each. In the first part he read out what nobody disputed: that a wall of dry stone, four hundred metres long, had stood between two farms since before there were maps, and that one morning in June it stood eleven metres further east.",
  "The second part concerned sheep. Both farms had called witnesses who could tell the flocks apart by their ears, and both sets of witnesses had been convincing. The court found that sheep had grazed on either side at all times, and that they had not been asked.",
  "In the third part the judge turned to the stones. A geologist had counted lichens on two hundred of them and concluded that the wall had been taken down and put up again by hand, in order, each stone beside the neighbour it had always had. It would have taken one person about nine weeks, or nine people a week.",
  "The fourth part was brief. Nobody had seen anyone. Nobody had heard anything. The court recorded its admiration, said the judge, which was not a finding of law, and drank.",
  "The fifth part was the order. The wall is to stay where it is, since no one could be found who was able to move it back so well; the eleven metres belong to both farms together; and each of them is to mend the side that it cannot see. The costs were divided, and the court rose for lunch.",
];
const story = document.getElementById('story');
let next = 0;
const timer = setInterval(() => {
  if (next === 0) {
    document.title = 'The wall that walked - The Upland Clarion';
    story.innerHTML = '<ul class="menu"><li><a href="a.html">Courts</a></li><li><a href="b.html">Livestock</a></li></ul><h1>The wall that walked</h1>';
  }
  story.appendChild(document.createElement('p')).textContent = chunks[next++];
  if (next === chunks.length) clearInterval(timer);
}, 200);
