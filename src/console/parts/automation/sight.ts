import { useElementSize } from '@mantine/hooks';
import { useReactFlow } from '@xyflow/react';
import { useCallback, useEffect, useRef } from 'react';
import type { FocusEvent, UIEvent } from 'react';

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

/** Keeps in the middle what is there when the panel beside it opens or closes. */
const useCentred = () => {
  const pan = usePan();
  const { ref, width } = useElementSize();
  const before = useRef(0);
  useEffect(() => {
    if (before.current > 0 && width > 0) pan((width - before.current) / 2, 0);
    if (width > 0) before.current = width;
  }, [width, pan]);
  return ref;
};

/**
 * What somebody adds, opens or comes to by the keyboard is in sight, with where the next step would go. A browser
 * scrolls for that, but not upwards past where a box begins, and React Flow takes every scroll back.
 */
export const useSight = (selected: string | null) => {
  const ref = useCentred();
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
  const before = useRef(selected);
  useEffect(() => {
    // Nobody has asked for what is open from the start.
    if (selected === null || selected === before.current) return undefined;
    before.current = selected;
    // React Flow draws a new step one frame later.
    const frame = requestAnimationFrame(() =>
      bring(document.querySelector(`.graph [data-step="${CSS.escape(selected)}"]`)),
    );
    return () => cancelAnimationFrame(frame);
  }, [selected, bring]);

  const onFocusCapture = ({ target }: FocusEvent<HTMLElement>): void => {
    // Who points at something sees it: it must not move away below the pointer.
    if (target.matches(':focus-visible')) bring(target);
  };
  const onScrollCapture = ({ target }: UIEvent<HTMLElement>): void => {
    const { scrollLeft, scrollTop } = target as HTMLElement;
    (target as HTMLElement).scrollTo({ left: 0, top: 0, behavior: 'instant' });
    pan(-scrollLeft, -scrollTop);
  };
  return { ref, onFocusCapture, onScrollCapture };
};
