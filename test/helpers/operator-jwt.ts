/** An operator with one account and one user, as tokens and files: what a hub that trusts the operator lets in. */
import { createAccount, createOperator, createUser, type KeyPair } from '@nats-io/nkeys';

export interface OperatorTokens {
  /** For the configuration of a hub: `operator`, `resolver` and what it is preloaded with. */
  readonly hubConfig: string;
  readonly accountId: string;
  /** What a `.creds` file holds. */
  readonly credentials: string;
}

/** `isTrusted` false: the user's token is signed by another account. */
export function operatorTokens({ isTrusted }: { readonly isTrusted: boolean }): OperatorTokens {
  const [operator, account, stranger, user] = [createOperator(), createAccount(), createAccount(), createUser()];
  const operatorToken = token(operator, operator, { type: 'operator' });
  const unlimited = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, conn: -1, leaf: -1, wildcards: true };
  const accountToken = token(operator, account, { type: 'account', limits: unlimited });
  const userToken = token(isTrusted ? account : stranger, user, { type: 'user', subs: -1, data: -1, payload: -1 });
  const accountId = account.getPublicKey();
  return {
    hubConfig: `operator: ${operatorToken}\nresolver: MEMORY\nresolver_preload: { ${accountId}: ${accountToken} }`,
    accountId,
    credentials: credentialsFile(userToken, new TextDecoder().decode(user.getSeed())),
  };
}

export function credentialsFile(userToken: string, seed: string): string {
  return [
    '-----BEGIN NATS USER JWT-----',
    userToken,
    '------END NATS USER JWT------',
    '',
    '************************* IMPORTANT *************************',
    'NKEY Seed printed below can be used to sign and prove identity.',
    '',
    '-----BEGIN USER NKEY SEED-----',
    seed,
    '------END USER NKEY SEED------',
    '',
  ].join('\n');
}

function token(issuer: KeyPair, subject: KeyPair, nats: object): string {
  const header = { typ: 'JWT', alg: 'ed25519-nkey' };
  const claims = {
    jti: 'X',
    iat: 1_700_000_000,
    iss: issuer.getPublicKey(),
    name: 'test',
    sub: subject.getPublicKey(),
    nats: { ...nats, version: 2 },
  };
  const [head, body] = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signed = `${head}.${body}`;
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`;
}
