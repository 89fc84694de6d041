type Listener = (error: Error) => void;

const listeners = new Set<Listener>();

/**
 * Hears exceptions that no caller can catch. A SQL Server driver throws them out of a socket's event when the bytes that it
 * reads are no TDS; every session that might have been reading them is given up, and the process goes on. Without such a
 * session the exception is a fault of our own and ends the process, as it would have.
 *
 * @returns stops listening
 */
export function onUncaught(listener: Listener): () => void {
  if (listeners.size === 0) process.on('uncaughtException', tell);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) process.off('uncaughtException', tell);
  };
}

function tell(error: Error): void {
  for (const listener of [...listeners]) listener(error);
}
