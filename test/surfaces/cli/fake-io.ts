// An IO for the command line that collects all output.
import type { CommandIo } from '../../../src/surfaces/terminal/io.ts'

export interface FakeIo extends CommandIo {
  out(): string
  err(): string
  exited: number[]
}

export function fakeIo(options: { tty?: boolean; env?: Record<string, string>; cwd?: string } = {}): FakeIo {
  const out: string[] = []
  const err: string[] = []
  const listeners = new Set<() => void>()
  const exited: number[] = []
  return {
    stdout: { write: (text) => out.push(text), isTTY: options.tty, columns: 80, rows: 24 },
    stderr: { write: (text) => err.push(text) },
    env: { XDG_STATE_HOME: process.env['XDG_STATE_HOME'] ?? '', ...options.env },
    cwd: options.cwd ?? process.cwd(),
    onInterrupt(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    exit: (code) => exited.push(code),
    out: () => out.join(''),
    err: () => err.join(''),
    interrupt() {
      for (const listener of listeners) listener()
    },
    exited,
  }
}
