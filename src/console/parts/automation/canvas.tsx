import {
  Box,
  Center,
  CloseButton,
  Drawer,
  Group,
  Loader,
  Paper,
  ScrollArea,
  Title,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { useEditor } from './editor_context.ts';
import { Outline } from './outline.tsx';
import { Panel, usePanelTitle } from './panel.tsx';

const Graph = lazy(() => import('./graph.tsx'));
const Code = lazy(() => import('./definition_code.tsx'));

export type View = 'graph' | 'list' | 'code';

const PANEL_WIDTH_PX = 380;
const CANVAS_HEIGHT = 'max(460px, calc(100dvh - 250px))';
const WIDE = '(min-width: 62em)';

const Wait = () => (
  <Center h={300}>
    <Loader aria-label="Loading" />
  </Center>
);

/** The panel beside the graph: whoever comes to it by the keyboard is in it at once, and goes back by Escape. */
const Side = () => {
  const { selected, select } = useEditor();
  const title = usePanelTitle();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (document.activeElement?.matches('[data-step]')) return;
    box.current?.focus({ preventScroll: true });
  }, [selected]);
  return (
    <Paper
      withBorder
      w={PANEL_WIDTH_PX}
      h={CANVAS_HEIGHT}
      style={{ flex: 'none' }}
      component="section"
      aria-label="What is open"
    >
      <ScrollArea h="100%" type="auto">
        <div
          ref={box}
          tabIndex={-1}
          style={{ padding: 16, outline: 'none' }}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || event.defaultPrevented) return;
            const card = document.querySelector<HTMLElement>(`[data-step="${selected}"]`);
            select(null);
            card?.focus();
          }}
        >
          <Group justify="space-between" wrap="nowrap" mb="md">
            <Title order={2} size="h4">
              {title}
            </Title>
            <CloseButton aria-label="Close the panel" onClick={() => select(null)} />
          </Group>
          <Panel />
        </div>
      </ScrollArea>
    </Paper>
  );
};

/** The automation as a graph, as a list or as code, and beside it what is open. */
export const Canvas = ({ view }: { view: View }) => {
  const isWide = useMediaQuery(WIDE) ?? true;
  const { selected, select } = useEditor();
  const title = usePanelTitle();
  return (
    <Box style={{ display: 'flex', gap: 16 }}>
      <Box flex={1} miw={0} h={view === 'graph' ? CANVAS_HEIGHT : undefined}>
        <Suspense fallback={<Wait />}>
          {view === 'graph' && <Graph />}
          {view === 'list' && <Outline />}
          {view === 'code' && <Code />}
        </Suspense>
      </Box>
      {isWide && selected !== null && <Side />}
      {!isWide && (
        <Drawer
          opened={selected !== null}
          onClose={() => select(null)}
          position="bottom"
          size="90%"
          title={title}
          closeButtonProps={{ 'aria-label': 'Close the panel' }}
        >
          <Panel />
        </Drawer>
      )}
    </Box>
  );
};
