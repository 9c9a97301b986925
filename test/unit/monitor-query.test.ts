/** Parameters of monitoring requests: what counts as which value, and the words for what doesn't. */
import { describe, expect, it } from 'vitest';
import { BadRequest } from '../../server/monitor/endpoint.ts';
import { Query } from '../../server/monitor/query.ts';

describe('a text', () => {
  it.each([
    ['a=1', '1'],
    ['b=2&a=1&a=3', '1'],
    ['a=%C3%BC+x%2B', 'ü x+'],
    ['a', ''],
    ['', ''],
    ['a=1;b=2', ''],
    ['a=1;b&a=2', '2'],
    ['a=%zz&a=3', '3'],
    ['a=%2', ''],
    ['A=1', ''],
    ['a=b=c', 'b=c'],
  ])('in %j is %j', (query, value) => {
    expect(new Query(query).text('a')).toBe(value);
  });
});

describe('a boolean', () => {
  it.each(['1', 't', 'T', 'true', 'TRUE', 'True'])('is true as %s', (text) => {
    expect(new Query(`a=${text}`).boolean('a')).toBe(true);
  });

  it.each(['', '0', 'f', 'F', 'false', 'FALSE', 'False'])('is false as %j', (text) => {
    expect(new Query(`a=${text}`).boolean('a')).toBe(false);
  });

  it.each(['yes', 'tRUE', '2', ' 1'])('is none as %s', (text) => {
    const words = `Error decoding boolean for 'a': strconv.ParseBool: parsing "${text}": invalid syntax`;
    expect(() => new Query(`a=${text}`).boolean('a')).toThrow(new BadRequest(words));
  });
});

describe('an integer', () => {
  it.each([
    ['', 0n],
    ['7', 7n],
    ['-7', -7n],
    ['%2B7', 7n],
    ['007', 7n],
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ['-9223372036854775808', -9_223_372_036_854_775_808n],
  ])('is read from %j', (text, value) => {
    expect(new Query(`a=${text}`).integer('a')).toBe(value);
  });

  it.each([
    ['x', 'x', 'invalid syntax'],
    ['1.5', '1.5', 'invalid syntax'],
    ['0x10', '0x10', 'invalid syntax'],
    ['%22', String.raw`\"`, 'invalid syntax'],
    ['9223372036854775808', '9223372036854775808', 'value out of range'],
  ])('is none as %s', (text, shown, problem) => {
    const words = `Error decoding int for 'a': strconv.Atoi: parsing "${shown}": ${problem}`;
    expect(() => new Query(`a=${text}`).integer('a')).toThrow(new BadRequest(words));
  });
});

describe('an integer without sign', () => {
  it('is read up to 64 bits', () => {
    expect(new Query('a=18446744073709551615').unsigned('a')).toBe(18_446_744_073_709_551_615n);
    expect(new Query('').unsigned('a')).toBe(0n);
  });

  it.each([
    ['-1', 'invalid syntax'],
    ['%2B1', 'invalid syntax'],
    ['18446744073709551616', 'value out of range'],
  ])('is none as %s', (text, problem) => {
    const shown = decodeURIComponent(text);
    const words = `Error decoding uint64 for 'a': strconv.ParseUint: parsing "${shown}": ${problem}`;
    expect(() => new Query(`a=${text}`).unsigned('a')).toThrow(new BadRequest(words));
  });
});
