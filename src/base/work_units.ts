/**
 * What requests cost, in units. One unit is about the work of storing one event. An identify runs a transaction of
 * its own and may create people; a link merges two profiles. `make bench only=units` measures both.
 */
export const UNITS = {
  event: 1,
  read: 1,
  identify: 10,
  link: 10,
  /** One bounce, complaint or delivery in a webhook: it locks an address and changes a send. */
  notice: 5,
  /** One address of an import of suppressions, one person of an import into a segment. */
  imported: 1,
  /** One profile with its whole timeline. */
  export: 50,
  /** One template rendered in a thread of its own. */
  render: 20,
  /** One pass over the past of a segment or an automation. */
  scan: 500,
} as const;

/** An identify costs one unit more for every so many traits: each is a row that is compared, kept and folded. */
export const TRAITS_PER_UNIT = 10;

/** What an import costs: a list by its items, a CSV text by its lines. */
export const importWork = (list: string | readonly unknown[]): Work => ({
  units:
    UNITS.imported * (typeof list === 'string' ? list.split(/\r\n|\n|\r/).length : list.length),
});

/** What one part of a request costs, and the anonymous id it names, if any. */
export type Work = { units: number; device?: string | undefined };

/**
 * A request costs one unit at least for each started part of its body of this size, unpacked: it is read and parsed,
 * whatever it says. A body that is refused costs as much.
 */
export const BYTES_PER_UNIT = 4 * 1024;
