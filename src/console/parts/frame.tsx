import { useEffect, useRef, useState } from 'react';
import type { ComponentProps } from 'react';

/** A frame with a stranger's document, in which nothing runs. It shows that it has the focus: somebody scrolls it. */
export const Frame = (props: ComponentProps<'iframe'> & { title: string }) => {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isFocused, setIsFocused] = useState(false);
  // The document of the frame hears of its focus, this one only that it has lost its own.
  useEffect(() => {
    const look = (): void => setIsFocused(document.activeElement === frame.current);
    for (const name of ['blur', 'focus']) window.addEventListener(name, look);
    return () => {
      for (const name of ['blur', 'focus']) window.removeEventListener(name, look);
    };
  }, []);
  return <iframe ref={frame} sandbox="" data-focused={isFocused || undefined} {...props} />;
};
