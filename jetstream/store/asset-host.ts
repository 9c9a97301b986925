/** Who makes assets from catalog entries. */

import type { AssetKind, CatalogEntry } from './catalog.ts';

export interface AssetHost {
  /** The entry is in the catalog, newly or with another configuration: makes the asset, or changes it. */
  assetPut(entry: CatalogEntry): void;
  assetDeleted(number: number, kind: AssetKind): void;
  /** An asset that is found at start: makes it and brings it back to its checkpoint. */
  recoverAsset(entry: CatalogEntry): Generator<void>;
}
