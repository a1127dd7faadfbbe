# docker build -t context-graph . ; docker run -i --rm -v context-graph:/data context-graph
# PyTorch's CPU build keeps 3.9 GB of CUDA libraries out of the image. With a GPU: --build-arg PIP_EXTRA_INDEX_URL=
FROM python:3.11-slim AS build
ARG PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
WORKDIR /source
COPY constraints.txt ./
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --constraint constraints.txt torch
COPY pyproject.toml README.md LICENSE ./
COPY events events
COPY projections projections
COPY actors actors
RUN /venv/bin/pip install --no-cache-dir --constraint constraints.txt .

FROM python:3.11-slim
RUN useradd --uid 1000 --create-home memory && install --directory --owner=memory --mode=700 /data
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH CONTEXT_GRAPH_DATA=/data/store
USER 1000
VOLUME /data
HEALTHCHECK --interval=1m --timeout=30s --start-period=1m CMD ["context-graph", "status"]
ENTRYPOINT ["context-graph", "serve", "--standalone"]
