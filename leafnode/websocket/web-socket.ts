/**
 * A connection to a hub that comes to speak WebSocket because this side asks for it.
 *
 *     fresh ──[encrypt]──upgrade──► asks ──101──► open: frames, as FramedSocket has them
 *                                    └──anything else: `done` hears why not
 *
 * What a link compresses by itself it compresses below: the frames are in the compressed stream, as nats-server has it.
 */

import { Buffer } from 'node:buffer';
import { FramedSocket } from '../../server/websocket/framed-socket.ts';
import { HttpResponse } from '../http-response.ts';
import { type UpgradeOffer, upgradeRequest, upgradeTerms } from './upgrade.ts';

const KEY_BYTES = 16;

interface Upgrade {
  readonly offer: UpgradeOffer;
  readonly key: string;
  readonly response: HttpResponse;
  readonly done: (failure: string | null) => void;
}

export class WebSocket extends FramedSocket {
  private upgrading: Upgrade | null = null;

  /** Asks the hub to speak WebSocket; `done` hears why it does not, or `null`, once, unless the socket closes first. */
  upgrade(offer: UpgradeOffer, done: (failure: string | null) => void): void {
    const deflates = offer.deflates && this.io.inflater !== undefined;
    const key = this.io.random.bytes(KEY_BYTES).toString('base64');
    this.upgrading = { offer: { ...offer, deflates }, key, response: new HttpResponse(), done };
    this.writeRaw(Buffer.from(upgradeRequest(this.upgrading.offer, key), 'latin1'));
  }

  override data(buffer: Buffer, start: number, end: number): boolean {
    const { upgrading } = this;
    if (upgrading === null) return super.data(buffer, start, end);
    const { response, offer, key } = upgrading;
    const at = response.read(buffer, start, end);
    if (response.failure === '' && !response.isComplete) return true;
    this.upgrading = null;
    const terms = response.failure || upgradeTerms(response, offer, key);
    if (typeof terms === 'string') {
      upgrading.done(terms);
      return false;
    }
    this.open({ ...terms, expectsMasks: false });
    upgrading.done(null);
    return this.take(buffer, at, end);
  }

  override ended(): void {
    const { upgrading } = this;
    this.upgrading = null;
    if (upgrading !== null) upgrading.done('unexpected EOF');
    else super.ended();
  }
}
