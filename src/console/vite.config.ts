import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  cacheDir: '../../node_modules/.vite-console',
  plugins: [react()],
  // Replaced in every answer by src/admin/console.ts.
  html: { cspNonce: '__NONCE__' },
  build: {
    // Never where it is served from: src/runtime/console_build.ts puts it there when it is whole.
    emptyOutDir: true,
    // The content policy allows no scripts or fonts from data: addresses.
    assetsInlineLimit: 0,
  },
});
