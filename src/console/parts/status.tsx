import { Badge } from '@mantine/core';

/** A state in a word, which is never cut short. */
export const Status = ({ word, color }: { word: string; color: string }) => (
  <Badge color={color} variant="light" miw="max-content">
    {word}
  </Badge>
);
