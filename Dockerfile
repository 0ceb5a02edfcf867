# Bonmun with its browser. Two stages: what builds the environment stays behind in the first.
#
# Python 3.11 is what every test here runs on. The tag names a full release; where a registry can be asked, name
# the bytes too: docker build --build-arg PYTHON_IMAGE=python:3.11.15-slim-bookworm@sha256:... .
ARG PYTHON_IMAGE=python:3.11.15-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
ARG SETUPTOOLS_VERSION=84.2.1
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ONLY_BINARY=:all: PIP_QUIET=1
WORKDIR /build
# The environment to ship has no pip: nothing is installed where it runs.
RUN python3 -m venv --without-pip /opt/bonmun \
 && python3 -m venv tools \
 && tools/bin/pip install setuptools==${SETUPTOOLS_VERSION}
# What the service imports, in the versions of the lock, whose other lines are for developers.
COPY pyproject.toml requirements.lock ./
RUN python3 -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > imports.txt \
 && tools/bin/pip --python /opt/bonmun install --constraint requirements.lock --requirement imports.txt
COPY README.md LICENSE ./
COPY service service
RUN tools/bin/pip wheel --no-deps --no-build-isolation --wheel-dir wheels . \
 && tools/bin/pip --python /opt/bonmun install --no-deps wheels/*.whl \
 # A wheel forgets that this file is a program, which Playwright starts as one.
 && chmod +x /opt/bonmun/lib/python3.*/site-packages/service/render/supervisor.py

FROM ${PYTHON_IMAGE}
# Empty: the newest that Debian has. A browser that opens strangers' pages is best rebuilt often, and Debian keeps no
# older one beside it. A build that must get one version or fail names it: CHROMIUM_VERSION=156.0.8078.114-1~deb12u1.
ARG CHROMIUM_VERSION=
# x11-utils and xdg-utils serve the wrapper of the desktop's Chromium; they would bring OpenGL with a compiler, 213 MB.
# An empty package stands in for both. The validation layer, 23 MB, is for those who debug Vulkan.
# libatomic1: Playwright's driver is a Node.js that links it, and no wheel can say so.
# Droid Sans Fallback has Hangul, Kana and Han in 7 MB (fonts-nanum has 34, fonts-noto-cjk 93). Nobody looks at the
# pages, but their lines should break as they do for readers.
RUN mkdir -p /tmp/stub/DEBIAN \
 && printf '%s\n' 'Package: bonmun-no-desktop' 'Version: 1' 'Architecture: all' 'Provides: x11-utils, xdg-utils' \
    'Maintainer: Bonmun' 'Description: stands in for what a headless browser does not run' > /tmp/stub/DEBIAN/control \
 && dpkg-deb --build /tmp/stub /tmp/stub.deb \
 && apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends \
    --option Dpkg::Options::=--path-exclude=/usr/lib/chromium/libVkLayer* \
    /tmp/stub.deb tini libatomic1 fonts-droid-fallback fonts-liberation \
    chromium-headless-shell${CHROMIUM_VERSION:+=${CHROMIUM_VERSION}} > /dev/null \
 && rm -rf /tmp/stub /tmp/stub.deb /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
 && groupadd --gid 10001 bonmun \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin bonmun
COPY --from=build /opt/bonmun /opt/bonmun
COPY --chmod=644 config.yaml /etc/bonmun/config.yaml

ARG REVISION=
LABEL org.opencontainers.image.title="Bonmun" \
      org.opencontainers.image.description="Turns a URL into the main content of the page as Markdown" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/bonmun/bonmun" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${REVISION}"

# /tmp is all that has to be writable: the root can be read-only. Loopback would be the container's own.
ENV PATH=/opt/bonmun/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/tmp \
    BONMUN_CONFIG=/etc/bonmun/config.yaml \
    BONMUN_SERVER__HOST=0.0.0.0
WORKDIR /tmp
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import http.client, os; c = http.client.HTTPConnection('127.0.0.1', int(os.environ.get('BONMUN_SERVER__PORT', 8000)), timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["tini", "--", "bonmun"]
CMD ["serve"]
