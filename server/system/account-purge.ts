/**
 * `$JS.API.ACCOUNT.PURGE.<account>`: all streams of an account go, with what is in them. An account that there is none of
 * has nothing that could stay, which is as good.
 */

import type { JetStream } from '../../jetstream/api/jetstream.ts';
import { bytesAsText } from '../monitor/byte-text.ts';
import { encode } from '../protocol/go-json.ts';

const TYPE = 'io.nats.jetstream.api.v1.account_purge_response';
const BAD_NAME = {
  code: 500,
  err_code: 10_051,
  description: 'account name can not contain path separators',
};

/** `done` gets the answer when the streams are gone. `account` is a string of bytes. */
export function purgeAccount(jetstream: JetStream, account: string, done: (answer: string) => void): void {
  if (/[\\/]/.test(account)) {
    done(encode({ type: TYPE, error: BAD_NAME }));
    return;
  }
  const streams = [...(jetstream.accounts.get(bytesAsText(account))?.streams.values() ?? [])];
  let left = streams.length;
  const goOn = (): void => {
    if (left === 0) done(encode({ type: TYPE, initiated: true }));
  };
  goOn();
  for (const { stream } of streams) {
    jetstream.deleteStream(stream, () => {
      left--;
      goOn();
    });
  }
}
