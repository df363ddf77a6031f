import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { compareLines, onlyChanges } from './diff.ts';
import './differences.css';

const SIGNS = { added: '+', removed: '−', same: ' ' };

/** What changed between two texts, line by line, as what reads it aloud says it, too. */
export const Differences = ({ before, after }: { before: string; after: string }) => {
  const lines = useMemo(() => onlyChanges(compareLines(before, after)), [before, after]);
  if (before === after)
    return (
      <Text size="sm" c="dimmed">
        Nothing is different.
      </Text>
    );
  return (
    <pre className="differences" aria-label="What changed">
      {lines.map((line, at) =>
        line === null ? (
          <div key={at} className="differences-gap">
            …
          </div>
        ) : (
          <div key={at} data-kind={line.kind}>
            {`${SIGNS[line.kind]} ${line.text}`}
          </div>
        ),
      )}
    </pre>
  );
};
