/**
 * A program that does nothing but load the SQLite addon as the daemon does, to be built into an executable of its own:
 * it takes the store directory as its argument, and prints the answer of a query, or the places tried in vain; and the
 * modules loaded meanwhile that a start should do without.
 */
import Database from 'better-sqlite3';
import { loadSqliteAddon, NativeAddonError } from '../../server/io/native-addon.ts';

try {
  const database = new Database(':memory:', { nativeBinding: loadSqliteAddon(process.argv[2] ?? null) as never });
  const answer: unknown = database.prepare('select 6 * 7').pluck().get();
  const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
  const heavy = moduleLoadList.filter((name) => name === 'NativeModule crypto');
  console.log(JSON.stringify({ answer, heavy }));
} catch (error) {
  if (!(error instanceof NativeAddonError)) throw error;
  console.log(JSON.stringify({ code: error.code, tried: error.tried }));
}
