import { getViewportForBounds } from '@xyflow/react';
import type { Viewport } from '@xyflow/react';
import { TRIGGER } from './layout.ts';
import type { Box, Drawn } from './layout.ts';

export const ZOOM_MIN = 0.25;
/** What is smaller cannot be read. */
const READ_ZOOM_MIN = 0.8;
const PADDING = 0.12;
const MARGIN_TOP_PX = 28;

type Size = { width: number; height: number };

const around = (boxes: readonly Box[]) => {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
};

/** How a graph is shown at first: the whole of it or, where that could not be read, from the trigger on. */
export const openingOf = ({ boxes, ends }: Drawn, { width, height }: Size): Viewport => {
  const all = around([...boxes, ...ends]);
  const whole = getViewportForBounds(all, width, height, ZOOM_MIN, 1, PADDING);
  if (whole.zoom >= READ_ZOOM_MIN) return whole;
  const trigger = boxes.find(({ id }) => id === TRIGGER) ?? all;
  const middle = all.width * READ_ZOOM_MIN <= width ? all : trigger;
  return {
    x: width / 2 - (middle.x + middle.width / 2) * READ_ZOOM_MIN,
    y: MARGIN_TOP_PX - trigger.y * READ_ZOOM_MIN,
    zoom: READ_ZOOM_MIN,
  };
};
