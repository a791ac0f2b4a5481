// The `console` for lines at a terminal. Ctrl-C can interrupt a loop in the middle of a write to a stream, and the stream would then
// wait for the write forever and print nothing more. This console writes to the file descriptor directly.
import { Console } from 'node:console'
import { writeSync } from 'node:fs'

/** Returns no console if the output is not a terminal of the process; lines then use the console of `node:repl`. */
export function directConsole(output: NodeJS.WritableStream & { fd?: unknown; isTTY?: unknown }): {
  console?: Console
} {
  const { fd } = output
  if (typeof fd !== 'number' || output.isTTY !== true) return {}
  const stdout = Object.create(output, { write: { value: (text: string) => writeAll(fd, text) } }) as typeof output
  return { console: new Console({ stdout, ignoreErrors: false }) }
}

function writeAll(fd: number, text: string): void {
  let left = Buffer.from(text)
  while (left.length > 0) left = left.subarray(writeSome(fd, left))
}

/** Returns 0 if the terminal is busy, so that the caller repeats the write. */
function writeSome(fd: number, bytes: Buffer): number {
  try {
    return writeSync(fd, bytes)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
    throw error
  }
}
