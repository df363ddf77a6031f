import '@mantine/core/styles.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { nonce } from './nonce.ts';
import { queryClient } from './queries.ts';
import { router } from './router.tsx';
import { resolveVariables, theme } from './theme.ts';

// Dialogs keep what is behind them from scrolling with a style element of their own, which asks here.
Reflect.set(globalThis, '__webpack_nonce__', nonce);
const root = document.getElementById('root');
if (!root) throw new Error('the page has no #root');

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
