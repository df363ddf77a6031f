import { Alert, List, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import CodeEditor from '../code/code_editor.tsx';
import { readDefinition } from './definition_text.ts';
import { useEditor } from './editor_context.ts';
import type { Definition } from './exits.ts';

const toText = (definition: Definition): string => JSON.stringify(definition, null, 2);

/** The definition itself. What can be read is taken at once; what cannot stays here until it can. */
const DefinitionCode = () => {
  const { definition, change, issues } = useEditor();
  const [text, setText] = useState(() => toText(definition));
  const taken = useRef(definition);
  useEffect(() => {
    if (definition === taken.current) return;
    taken.current = definition;
    setText(toText(definition));
  }, [definition]);
  const known = readDefinition(text);
  const type = (next: string): void => {
    setText(next);
    const value = readDefinition(next);
    if (typeof value === 'string') return;
    taken.current = value;
    change(value, 'code');
  };
  return (
    <Stack gap="sm">
      {typeof known === 'string' && (
        <Alert color="red" role="alert" title="Not taken over yet">
          {known}
        </Alert>
      )}
      <CodeEditor
        label="Definition as JSON"
        language="json"
        value={text}
        onChange={type}
        minHeight="400px"
        maxHeight="70vh"
      />
      {issues.length > 0 && (
        <List size="sm">
          {issues.map(({ path, message }) => (
            <List.Item key={`${path} ${message}`} className="breaks">
              <Text span ff="monospace" size="sm">
                {path === '' ? '/' : path}
              </Text>{' '}
              {message}
            </List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
};

export default DefinitionCode;
