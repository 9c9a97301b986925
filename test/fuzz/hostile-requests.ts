/** What no browser should send to monitoring: requests with mistakes, halves of them, and noise. */
import * as fc from 'fast-check';

const PATHS: readonly string[] = [
  '/varz /connz /subsz /jsz /healthz /leafz /accountz /accstatz /routez /gatewayz /metrics / /nothing'.split(' '),
  ['//varz', '/../etc/passwd', '/%00', '/varz%', '/connz/', '/\xff', `/${'a'.repeat(9000)}`],
].flat();

const NAMES: readonly string[] = [
  'limit',
  'offset',
  'sort',
  'subs',
  'auth',
  'state',
  'acc',
  'cid',
  'test',
  'js-enabled',
];

const VALUES: readonly string[] = [
  ['', '1', '0', '-1', '99999999999999999999', '1e9', 'true', 'detail', 'NaN', '%', '%zz', 'a.>', '>', '*', 'cid'],
  ['x'.repeat(2000), 'bytes_to', '$G', '$SYS', '\0', '&&&', '=', 'callback', '<script>'],
].flat();

const METHODS: readonly string[] = [
  'GET',
  'GET',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'OPTIONS',
  'CONNECT',
  'PRI',
  'get',
  'G',
];

const HEADERS: readonly string[] = [
  ['Host: x', 'Connection: keep-alive', 'Connection: upgrade\r\nUpgrade: websocket', 'Expect: 100-continue'],
  ['Content-Length: 5', 'Content-Length: -1', 'Content-Length: 99999999999', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked\r\nContent-Length: 3', 'Accept-Encoding: gzip, br', ': empty', 'no colon', ' folded'],
  [`X-Long: ${'y'.repeat(20_000)}`, 'Range: bytes=0-1', 'Accept: text/html'],
].flat();

const query = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES)), { maxLength: 5 })
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`));

const request = fc
  .record({
    method: fc.constantFrom(...METHODS),
    path: fc.constantFrom(...PATHS),
    query,
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''),
    headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 4 }),
    body: fc.constantFrom('', '', 'hello', '5\r\nhello\r\n0\r\n\r\n', 'ffffffff\r\n'),
  })
  .map(({ method, path, query: asked, version, headers, body }) => {
    const lines = [`${method} ${path}${asked} ${version}`, ...headers, '', body];
    return lines.join('\r\n');
  });

export const hostileRequests: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 500 }).map((each) => Buffer.from(each)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.array(request, { minLength: 1, maxLength: 4 }), fc.nat(30_000))
      .map(([requests, end]) => Buffer.from(requests.join(''), 'latin1').subarray(0, end + 1)),
  },
);
