/** What the log says of handshakes that fail: one line, without the insides of a library. */
import { describe, expect, it } from 'vitest';
import { handshakeFailure } from '../../server/connection/handshake-failure.ts';

function failure(message: string, code: string): { text: string; isProbe: boolean } {
  return handshakeFailure(Object.assign(new Error(message), { code }), null);
}

describe('why a handshake failed', () => {
  it('is told in the words that people search for', () => {
    expect(failure('whatever', 'ERR_SSL_NO_SHARED_CIPHER')).toEqual({
      text: 'tls: no cipher suite supported by both client and server',
      isProbe: false,
    });
    expect(
      failure(
        '407D44493B7F0000:error:0A000092:SSL routines:f:data length too long:../a.c:121:\n',
        'ERR_SSL_DATA_LENGTH_TOO_LONG',
      ).text,
    ).toBe('tls: oversized record received');
  });

  it('is only the reason where there are no such words', () => {
    const message =
      '407D44493B7F0000:error:0A0000F4:SSL routines:ossl_read_transition:unexpected message:../deps/statem.c:340:\n';
    expect(failure(message, 'ERR_SSL_UNEXPECTED_MESSAGE').text).toBe('tls: unexpected message');
    expect(failure('socket hang up', 'EWHATEVER').text).toBe('socket hang up');
  });

  it('is no error of anybody when the peer speaks no TLS, or just goes', () => {
    expect(failure('wrong version number', 'ERR_SSL_WRONG_VERSION_NUMBER').isProbe).toBe(true);
    expect(handshakeFailure(null, null)).toEqual({ text: 'EOF', isProbe: false });
  });
});
