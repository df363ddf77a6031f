import { useCallback, useState } from 'react';

const STEPS_KEPT_MAX = 100;

type Past<T> = { before: T[]; present: T; after: T[]; tag: string | null };

export type History<T> = {
  present: T;
  /** Changes it. Changes in a row with the same tag are taken back together. */
  change: (next: T, tag?: string) => void;
  undo: () => void;
  redo: () => void;
  canUndo: boolean;
  canRedo: boolean;
  /** Begins anew from what is kept elsewhere. */
  reset: (to: T) => void;
};

/** A value whose changes can be taken back, and made again. */
export const useHistory = <T>(initial: T | (() => T)): History<T> => {
  const [{ before, present, after }, setPast] = useState<Past<T>>(() => ({
    before: [],
    present: initial instanceof Function ? initial() : initial,
    after: [],
    tag: null,
  }));
  const change = useCallback(
    (next: T, tag?: string) =>
      setPast((past) => {
        if (next === past.present) return past;
        const isSame = tag !== undefined && tag === past.tag;
        return {
          before: isSame ? past.before : [...past.before, past.present].slice(-STEPS_KEPT_MAX),
          present: next,
          after: [],
          tag: tag ?? null,
        };
      }),
    [],
  );
  const undo = useCallback(
    () =>
      setPast((past) => {
        const last = past.before.at(-1);
        if (last === undefined) return past;
        const rest = past.before.slice(0, -1);
        return { before: rest, present: last, after: [past.present, ...past.after], tag: null };
      }),
    [],
  );
  const redo = useCallback(
    () =>
      setPast((past) => {
        const [next, ...rest] = past.after;
        if (next === undefined) return past;
        return { before: [...past.before, past.present], present: next, after: rest, tag: null };
      }),
    [],
  );
  const reset = useCallback(
    (to: T) => setPast({ before: [], present: to, after: [], tag: null }),
    [],
  );
  const can = { canUndo: before.length > 0, canRedo: after.length > 0 };
  return { present, change, undo, redo, ...can, reset };
};
