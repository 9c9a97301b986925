/**
 * The page at the root of monitoring: what the server is, and a link to each endpoint. Links are relative to the server,
 * under the base path, as nats-server's are.
 */

import type { HttpResponse } from '../io/io.ts';
import { NATS_VERSION, PETIOLE_VERSION } from '../protocol/version.ts';
import { type Endpoint, htmlResponse } from './endpoint.ts';

/** `pathOf` puts an endpoint's path under the base path. */
export function indexPage(endpoints: readonly Endpoint[], pathOf: (path: string) => string): HttpResponse {
  const links = endpoints
    .filter(({ title }) => title !== '')
    .map(({ path, title }) => `      <li><a href=".${escape(pathOf(path))}">${title}</a> <code>${path}</code></li>`);
  return htmlResponse(
    200,
    `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>petiole</title>
    <style>
      body { font-family: system-ui, sans-serif; margin: 2rem }
      li { list-style: none; margin: 0.5rem 0 }
      code { color: #888; margin-left: 0.5rem }
    </style>
  </head>
  <body>
    <h1>petiole ${PETIOLE_VERSION}</h1>
    <p>stands in for nats-server v${NATS_VERSION}</p>
    <ul>
${links.join('\n')}
    </ul>
  </body>
</html>
`,
    {},
  );
}

/** For an attribute in double quotes. */
function escape(text: string): string {
  return text.replaceAll(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
