/** Plain HTTP for the monitoring port: whole requests in, whole responses out. */

import type { Address, HttpHandler, IoError, Listener } from './io.ts';

export function serveHttp(address: Address, handler: HttpHandler): Listener {
  // Loaded on first use: most starts inside tests have no monitoring port.
  const http = process.getBuiltinModule('node:http');
  const server = http.createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    request.resume();
    handler.request({ method, url, headers }, ({ status, headers: fields, body }) => {
      response.writeHead(status, fields);
      response.end(method === 'HEAD' ? undefined : body);
    });
  });
  server.on('error', (error: IoError) => handler.failed(error));
  server.listen({ host: address.host, port: address.port }, () => {
    const bound = server.address();
    if (bound !== null && typeof bound === 'object') handler.listening({ host: bound.address, port: bound.port });
  });
  return {
    close: (done) => {
      server.close(() => done());
      server.closeAllConnections();
    },
  };
}
