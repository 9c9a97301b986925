/** The table of what the API answers with. */
import { expect, it } from 'vitest';
import { type ApiError, ApiErrors, errorJson, isApiError } from '../../jetstream/errors.ts';

const entries = Object.entries(ApiErrors) as [string, ApiError | ((...values: string[]) => ApiError)][];
const errors = entries.map(([, entry]) => (typeof entry === 'function' ? entry('one', 'two') : entry));

it('has each code once', () => {
  expect(new Set(errors.map(({ errCode }) => errCode)).size).toBe(errors.length);
  expect(errors.length).toBe(227);
});

it('fills in what an error has to say, in its order', () => {
  expect(ApiErrors.wrongLastSequence(6)).toEqual({ code: 400, errCode: 10071, description: 'wrong last sequence: 6' });
  expect(ApiErrors.streamExternalApiOverlap('a', 'b').description).toBe(
    'stream external api prefix a must not overlap with b',
  );
  expect(ApiErrors.streamInvalidConfig('a {b}').description).toBe('a {b}');
  for (const { description } of errors) expect(description).not.toMatch(/\{\w+\}|undefined/);
});

it('is shared, and nobody changes it', () => {
  expect(ApiErrors.streamNotFound).toBe(ApiErrors.streamNotFound);
  expect(Object.isFrozen(ApiErrors.streamNotFound)).toBe(true);
});

it('is told from other answers, and written as the API has it', () => {
  expect(isApiError(ApiErrors.streamNotFound)).toBe(true);
  expect(isApiError({ name: 'S' })).toBe(false);
  expect(errorJson(ApiErrors.streamNotFound)).toEqual({ code: 404, err_code: 10059, description: 'stream not found' });
});
