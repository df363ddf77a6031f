#!/usr/bin/env node
// `npx trunkline`: the command line.
// First, and by itself: it ends the program where Node is too old for the rest.
import './node_version.ts';
import { run } from './run.ts';

// Whoever reads what it prints may stop: `trunkline projects | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
