/** What /metrics says of leaf links: the open ones, and each configured remote, linked or not. */

import type { SpoolStatistics } from '../../ports.ts';
import type { RemoteState } from '../../../leafnode/remote.ts';
import type { MonitorSource } from '../monitor-source.ts';
import { joined, labels, type MetricText } from './metric-text.ts';

const STATES: readonly RemoteState[] = ['waiting', 'dialling', 'linking', 'open', 'closed'];

export function describeLeafLinks(text: MetricText, source: MonitorSource): void {
  const links = source.leafNodes.linkSnapshots();
  text.gauge('gnatsd_leafz_conn_nodes_total', 'Open leaf links', labels({ server_id: source.id }), links.length);
  for (const link of links) {
    const { account, ip, name } = link;
    const port = String(link.port);
    const all = labels({ server_id: source.id, account, account_id: account, ip, port, name, cid: String(link.id) });
    const gauge = (member: string, help: string, value: number): void => {
      text.gauge(`gnatsd_leafz_conn_${member}`, help, all, value);
    };
    gauge('rtt', 'Round trip in seconds; 0 until it was measured', link.rttMs / 1000);
    gauge('in_msgs', 'Messages that came over the link', link.inMessages);
    gauge('out_msgs', 'Messages that went over the link', link.outMessages);
    gauge('in_bytes', 'Bytes that came over the link', link.inBytes);
    gauge('out_bytes', 'Bytes that went over the link', link.outBytes);
    gauge('subscriptions_total', 'What the other end wants to hear', link.subscriptions);
    text.gauge('petiole_leaf_link_pending_bytes', 'Bytes that the other end has not taken yet', all, link.pendingBytes);
    const dropped = { too_large: link.droppedTooLarge, congested: link.droppedCongested };
    for (const [reason, count] of Object.entries(dropped)) {
      const help = 'Messages that did not go over the link';
      text.counter('petiole_leaf_link_dropped_messages_total', help, joined(all, labels({ reason })), count);
    }
  }
  describeRemotes(text, source);
}

function describeRemotes(text: MetricText, source: MonitorSource): void {
  const nowMs = source.io.clock.wallMs();
  for (const [at, { options, state, attempts, opens, spool }] of source.leafNodes.remoteSnapshots().entries()) {
    const { account } = options;
    const url = options.urls.map(({ host, port }) => `${host}:${port}`).join(',');
    const all = labels({ server_id: source.id, remote: String(at), account, url });
    text.gauge('petiole_leaf_remote_up', '1 if the link to the remote is open', all, state === 'open' ? 1 : 0);
    for (const each of STATES) {
      const help = 'Which of its states the remote is in: 1 for that, 0 for the others';
      text.gauge('petiole_leaf_remote_state', help, joined(all, labels({ state: each })), each === state ? 1 : 0);
    }
    text.gauge('petiole_leaf_remote_attempts', 'Dials since a hub was reached last', all, attempts);
    text.counter('petiole_leaf_remote_opens_total', 'Times that the link opened', all, opens);
    if (spool !== null) describeSpool(text, all, spool, nowMs);
  }
}

function describeSpool(text: MetricText, all: string, spool: SpoolStatistics, nowMs: number): void {
  const { messages, bytes, oldestWallMs, spooled, forwarded, dropped, refused } = spool;
  const ageS = oldestWallMs === null ? 0 : Math.max(0, nowMs - oldestWallMs) / 1000;
  text.gauge('petiole_leaf_spool_messages', 'Messages that wait for the link', all, messages);
  text.gauge('petiole_leaf_spool_bytes', 'Bytes that they take', all, bytes);
  text.gauge('petiole_leaf_spool_oldest_seconds', 'Age of the oldest of them', all, ageS);
  text.counter('petiole_leaf_spool_spooled_total', 'Messages that were put on disk', all, spooled);
  text.counter('petiole_leaf_spool_forwarded_total', 'Messages sent, those sent again included', all, forwarded);
  text.counter('petiole_leaf_spool_dropped_total', 'Messages pushed out by others, or too old', all, dropped);
  text.counter('petiole_leaf_spool_refused_total', 'Messages not taken, for lack of room', all, refused);
}
