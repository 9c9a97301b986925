/** When and where a remote dials again. */
import { describe, expect, it } from 'vitest';
import { consequenceOf, reconnectDelayMs } from '../../leafnode/reconnect-delay.ts';
import { RemoteUrls } from '../../leafnode/remote-urls.ts';
import { remoteOptions } from '../helpers/leaf-petiole.ts';

describe('the delay before a remote dials again', () => {
  it('is between half the interval and the interval after a link that stood', () => {
    expect(reconnectDelayMs(1000, 0, 1, 0)).toBe(500);
    expect(reconnectDelayMs(1000, 0, 1, 0.998)).toBe(999);
  });

  it('doubles from the fourth failed round through the addresses on, up to two seconds', () => {
    const least = (failures: number, urls: number): number => reconnectDelayMs(400, failures, urls, 0);
    expect([0, 1, 2, 3, 4, 5, 100].map((failures) => least(failures, 1))).toEqual([
      200, 200, 200, 400, 800, 1000, 1000,
    ]);
    expect([0, 5, 6, 8, 9, 12].map((failures) => least(failures, 3))).toEqual([200, 200, 200, 200, 400, 800]);
    expect(reconnectDelayMs(1000, 1e9, 1, 0.5)).toBe(1500);
  });

  it('is long where a long interval is wanted', () => {
    expect(reconnectDelayMs(60_000, 5, 1, 0)).toBe(30_000);
  });

  // nats-server#1368: many leaves came back in the same instant.
  it('spreads two hundred sites that lost one hub', () => {
    const delays = Array.from({ length: 200 }, (_, i) => reconnectDelayMs(1000, 0, 1, i / 200));
    const perTenth = Map.groupBy(delays, (delay) => Math.floor(delay / 100));
    expect(Math.max(...[...perTenth.values()].map(({ length }) => length))).toBeLessThanOrEqual(41);
  });

  it.each([
    ["'remote leafnode has same cluster name'", 30_000, false],
    ['\'Permissions Violation for Subscription to "x"\'', 30_000, false],
    ['\'connection rejected since minimum version required is "2.99.0"\'', 5000, false],
    ['\'Loop detected for leafnode account="A". Delaying attempt to reconnect for 30s\'', 30_000, true],
  ])('is longer after %s', (error, delayMs, closes) => {
    expect(consequenceOf(error, 'A')).toMatchObject({ delayMs, closes });
  });

  it('is not changed by another error', () => {
    expect(consequenceOf("'Authorization Violation'", 'A')).toBeNull();
  });
});

describe('the addresses of a remote', () => {
  const urlsOf = (fraction: (() => number) | null, ...urls: string[]): RemoteUrls =>
    new RemoteUrls(remoteOptions(urls).urls, fraction);
  const dialled = (urls: RemoteUrls, count: number): string =>
    Array.from({ length: count }, () => urls.next().host).join(' ');

  it('are dialled in turn', () => {
    expect(dialled(urlsOf(null, 'nats://a', 'nats://b', 'nats://c'), 5)).toBe('a b c a b');
    expect(dialled(urlsOf(null, 'nats://a'), 3)).toBe('a a a');
  });

  it('are shuffled once', () => {
    let drawn = 0;
    const urls = urlsOf(() => [0.1, 0.9, 0.4][drawn++] ?? 0, 'nats://a', 'nats://b', 'nats://c', 'nats://d');
    expect(dialled(urls, 8)).toBe('b d c a b d c a');
    expect(drawn).toBe(3);
  });

  it('begin with those that the hub tells, without those that are configured', () => {
    const urls = urlsOf(null, 'nats://a:1', 'nats://b:2');
    expect(urls.next().host).toBe('a');
    urls.told(['b:2', 'x:7', '[::1]:8', 'no port', ':9', 'y:70000', 'z:0']);
    expect(urls.count).toBe(4);
    expect(dialled(urls, 5)).toBe('x ::1 a b x');
    urls.told(['a:1']);
    expect(dialled(urls, 3)).toBe('a b a');
  });

  it('share the first login among those that have none', () => {
    const urls = urlsOf(null, 'nats://a', 'nats://u:p@b', 'nats://v@c');
    const [a, b, c] = [urls.next(), urls.next(), urls.next()];
    expect(urls.loginFor(a)).toEqual({ username: 'u', password: 'p' });
    expect(urls.loginFor(b)).toEqual({ username: 'u', password: 'p' });
    expect(urls.loginFor(c)).toEqual({ username: 'v', password: null });
    const without = urlsOf(null, 'nats://a');
    expect(without.loginFor(without.next())).toBeNull();
  });
});
