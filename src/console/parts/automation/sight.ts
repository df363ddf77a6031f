import { useElementSize } from '@mantine/hooks';
import { useReactFlow } from '@xyflow/react';
import type { Viewport } from '@xyflow/react';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import type { FocusEvent, UIEvent } from 'react';
import type { Drawn } from './layout.ts';
import { openingOf } from './opening.ts';

const MARGIN_PX = 20;
/** What comes next, or the way to add it, is seen below a step. */
const MARGIN_BELOW_PX = 96;

/** How far something has to go to be between two bounds: by its start, where it is longer than what is between. */
const wayInto = (start: number, end: number, from: number, to: number): number =>
  Math.max(from - start, Math.min(0, to - end));

/** Pans by so many pixels to the right, and down. */
const usePan = () => {
  const { getViewport, setViewport } = useReactFlow();
  return useCallback(
    (right: number, down: number): void => {
      if (right === 0 && down === 0) return;
      const { x, y, zoom } = getViewport();
      void setViewport({ x: x + right, y: y + down, zoom });
    },
    [getViewport, setViewport],
  );
};

/**
 * How the graph is shown at first, once its pane has a size. Whoever has not moved it since is shown it anew when the
 * pane gets another size; for everybody else, what is there stays in the middle.
 */
const useOpening = (drawn: Drawn, width: number, height: number): Viewport | null => {
  const { getViewport, setViewport } = useReactFlow();
  const pan = usePan();
  const opening = useMemo(
    () => (width > 0 && height > 0 ? openingOf(drawn, { width, height }) : null),
    [drawn, width, height],
  );
  const before = useRef<{ width: number; height: number; shown: Viewport } | null>(null);
  useEffect(() => {
    if (!opening) return;
    const was = before.current;
    before.current = { width, height, shown: was?.shown ?? opening };
    if (!was || (was.width === width && was.height === height)) return;
    const { x, y, zoom } = getViewport();
    if (x === was.shown.x && y === was.shown.y && zoom === was.shown.zoom) {
      before.current.shown = opening;
      void setViewport(opening);
    } else pan((width - was.width) / 2, 0);
  }, [opening, width, height, pan, getViewport, setViewport]);
  return opening;
};

/**
 * What somebody adds, opens or comes to by the keyboard is in sight, with where the next step would go. A browser
 * scrolls for that, but not upwards past where a box begins, and React Flow takes every scroll back.
 */
export const useSight = (selected: string | null, drawn: Drawn) => {
  const { ref, width, height } = useElementSize();
  const opening = useOpening(drawn, width, height);
  const pan = usePan();
  const bring = useCallback(
    (within: Element | null | undefined): void => {
      const step = within?.closest('.graph-step')?.getBoundingClientRect();
      const pane = within?.closest('.graph')?.getBoundingClientRect();
      if (!step || !pane) return;
      pan(
        wayInto(step.left, step.right, pane.left + MARGIN_PX, pane.right - MARGIN_PX),
        wayInto(step.top, step.bottom, pane.top + MARGIN_PX, pane.bottom - MARGIN_BELOW_PX),
      );
    },
    [pan],
  );
  const before = useRef({ selected, width: 0 });
  useEffect(() => {
    const was = before.current;
    before.current = { selected, width: width || was.width };
    const isResized = was.width > 0 && before.current.width !== was.width;
    // Nobody has asked for what is open from the start.
    if (selected === null || (selected === was.selected && !isResized)) return undefined;
    // React Flow draws a new step, and a new place, one frame later.
    const frame = requestAnimationFrame(() =>
      bring(document.querySelector(`.graph [data-step="${CSS.escape(selected)}"]`)),
    );
    return () => cancelAnimationFrame(frame);
  }, [selected, width, bring]);

  const onFocusCapture = ({ target }: FocusEvent<HTMLElement>): void => {
    // Who points at something sees it: it must not move away below the pointer.
    if (!target.matches(':focus-visible')) return;
    bring(target);
    // The browser may scroll to it as well, where it stood before.
    requestAnimationFrame(() => bring(target));
  };
  const onScrollCapture = ({ currentTarget, target }: UIEvent<HTMLElement>): void => {
    const scrolled = target as HTMLElement;
    // A menu of the graph is drawn outside of it, and scrolls by itself.
    if (!currentTarget.contains(scrolled)) return;
    const { scrollLeft, scrollTop } = scrolled;
    scrolled.scrollTo({ left: 0, top: 0, behavior: 'instant' });
    pan(-scrollLeft, -scrollTop);
  };
  return { opening, pane: { ref, onFocusCapture, onScrollCapture } };
};
