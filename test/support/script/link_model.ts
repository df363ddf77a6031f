// What becomes of each wish to link a device, worked out the simple way, one wish after the other.
import { BROWSER_LINKS_A_DAY_MAX } from '../../../src/identity/identity.ts';
import type { KeyKind, Op } from './ops.ts';

/** Whom a device belongs to, whether a server says so, and whom a browser had said before that. */
type Owner = { person: string; isFirm: boolean; before: string | null };

class Links {
  readonly owners = new Map<string, Owner>();
  /** Pairs that an undo took apart: no browser makes them again. */
  readonly #undone = new Set<string>();
  /** Devices that browsers alone linked to a person, whatever became of them. */
  readonly #ofBrowsers = new Map<string, Set<string>>();

  wish(device: string, person: string, key: KeyKind): void {
    const owner = this.owners.get(device);
    if (owner?.person === person) {
      if (key === 'server') this.#confirm(device, owner);
      return;
    }
    if (key === 'publishable') {
      if (!owner && !this.#undone.has(`${device}>${person}`)) this.#byBrowser(device, person);
    } else if (owner?.isFirm !== true)
      this.owners.set(device, { person, isFirm: true, before: owner?.person ?? null });
  }

  undo(device: string): void {
    const owner = this.owners.get(device);
    if (!owner) return;
    this.#undone.add(`${device}>${owner.person}`);
    this.owners.delete(device);
    if (owner.before !== null)
      this.owners.set(device, { person: owner.before, isFirm: false, before: null });
  }

  #confirm(device: string, owner: Owner): void {
    if (!owner.isFirm) this.#ofBrowsers.get(owner.person)?.delete(device);
    owner.isFirm = true;
  }

  #byBrowser(device: string, person: string): void {
    const linked = this.#ofBrowsers.get(person) ?? new Set();
    this.#ofBrowsers.set(person, linked);
    if (linked.size >= BROWSER_LINKS_A_DAY_MAX) return;
    linked.add(device);
    this.owners.set(device, { person, isFirm: false, before: null });
  }
}

/** The links that stand after a script, as `nameLink` names them. */
export const expectedLinks = (ops: readonly Op[]): string[] => {
  const links = new Links();
  for (const op of ops) {
    if (op.kind === 'alias') links.wish(op.device, op.person, 'server');
    if (op.kind === 'identify' && op.device !== null) links.wish(op.device, op.person, op.key);
    if (op.kind === 'undo') links.undo(op.device);
  }
  return [...links.owners].map(([device, { person }]) => `${device} -> ${person}`).toSorted();
};
