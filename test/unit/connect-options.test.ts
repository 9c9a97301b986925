/** What is taken from the JSON of a CONNECT, and what refuses it. */
import { describe, expect, it } from 'vitest';
import { type ConnectOptions, defaultConnectOptions, readConnect } from '../../server/protocol/connect-options.ts';

/** The fields that differ from the defaults, or why it was refused. */
function read(json: string, before: ConnectOptions = defaultConnectOptions()): Partial<ConnectOptions> | string {
  const problem = readConnect(json, before);
  if (problem !== null) return problem;
  const defaults: Record<string, unknown> = { ...defaultConnectOptions() };
  return Object.fromEntries(Object.entries(before).filter(([key, value]) => value !== defaults[key]));
}

describe('CONNECT', () => {
  it('names every option', () => {
    const given = {
      verbose: false,
      pedantic: false,
      echo: false,
      headers: true,
      no_responders: true,
      tls_required: true,
      protocol: 1,
      user: 'u',
      pass: 'p',
      auth_token: 't',
      nkey: 'n',
      jwt: 'j',
      sig: 's',
      name: 'na',
      lang: 'la',
      version: 've',
      account: 'ac',
      new_account: true,
    };
    expect(read(JSON.stringify(given))).toEqual({
      verbose: false,
      pedantic: false,
      echo: false,
      headers: true,
      noResponders: true,
      tlsRequired: true,
      protocol: 1,
      user: 'u',
      pass: 'p',
      authToken: 't',
      nkey: 'n',
      jwt: 'j',
      sig: 's',
      name: 'na',
      lang: 'la',
      version: 've',
      account: 'ac',
      newAccount: true,
    });
  });

  it.each<[string, Partial<ConnectOptions>]>([
    ['{}', {}],
    ['null', {}],
    [' {"verbose" : false} ', { verbose: false }],
    ['{"VERBOSE":false,"Pass":"x"}', { verbose: false, pass: 'x' }],
    ['{"user":null,"protocol":null}', {}],
    ['{"unknown":[1,{"a":2}],"ssl_required":true}', {}],
    ['{"user":"a","user":"b"}', { user: 'b' }],
    ['{"__proto__":{"user":"x"},"constructor":1,"toString":"x"}', {}],
    ['{"name":"\\u00e9\\n"}', { name: '\u00e9\n' }],
    ['{"protocol":-1}', { protocol: -1 }],
  ])('%s is taken', (json, expected) => {
    expect(read(json)).toEqual(expected);
  });

  it.each([
    ['', /^CONNECT is no JSON$/],
    ['{', /^CONNECT is no JSON$/],
    ['{"user":"a"} x', /^CONNECT is no JSON$/],
    ["{'user':'a'}", /^CONNECT is no JSON$/],
    ['[]', /^CONNECT takes/],
    ['"x"', /^CONNECT takes/],
    ['1', /^CONNECT takes/],
    ['{"verbose":"false"}', /verbose is not a boolean/],
    ['{"verbose":0}', /verbose is not a boolean/],
    ['{"user":1}', /user is not a string/],
    ['{"protocol":"1"}', /protocol is not a integer/],
    ['{"protocol":1.5}', /protocol is not a integer/],
    ['{"protocol":1e300}', /protocol is not a integer/],
    ['{"pass":{"a":1}}', /pass is not a string/],
  ])('%s is refused', (json, reason) => {
    expect(read(json)).toMatch(reason);
  });

  it('is never quoted in what is said about it', () => {
    for (const json of [
      '{"pass":secret}',
      '{"pass":"secret",}',
      '{"pass":"secret" "x"}',
      '"secret"',
      '{"pass":["secret"]}',
    ]) {
      expect(read(json)).toMatch(/^CONNECT (?!.*secret)/);
    }
  });

  it('a second time changes only what it names', () => {
    const options = defaultConnectOptions();
    readConnect('{"user":"u","verbose":false,"name":"first"}', options);
    expect(read('{"name":"second"}', options)).toEqual({ user: 'u', verbose: false, name: 'second' });
  });

  it('nested as deep as a line allows is no trouble', () => {
    expect(read(`{"x":${'['.repeat(2000)}${']'.repeat(2000)},"user":"u"}`)).toEqual({ user: 'u' });
    expect(read('['.repeat(50_000))).toMatch(/^CONNECT is no JSON$/);
  });
});
