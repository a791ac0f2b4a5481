// Connects stdout, stderr, signals and the exit code of the process to `main`.
import { isatty } from 'node:tty'
import { misuse } from '../terminal/arguments.ts'
import type { CommandIo } from '../terminal/io.ts'
import { main } from './main.ts'

/** Runs the command line of the process and sets its exit code. */
export async function launch(): Promise<void> {
  process.exitCode = await main(process.argv.slice(2), processIo())
}

function processIo(): CommandIo {
  const listeners = new Set<() => void>()
  const interrupt = () => {
    for (const listener of listeners) listener()
  }
  // A closed pipe (`errand logs -f … | head`) ends a command like Ctrl-C.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      if (listeners.size === 0) process.exit()
      interrupt()
    })
  }
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    // `process.stdin` is read only if it is a terminal: creating it has side effects on other inputs.
    keyboard: isatty(0) ? process.stdin : undefined,
    input: isatty(0) ? undefined : () => process.stdin,
    env: process.env,
    get cwd() {
      return workingFolder()
    },
    interrupt,
    exit: (code) => process.exit(code),
    onTermination(listener) {
      for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, listener)
      return () => {
        for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.off(signal, listener)
      }
    },
    onInterrupt(listener) {
      if (listeners.size === 0) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt)
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt)
      }
    },
  }
}

/** Read when it is needed: a worktree may be deleted before the last hook of its session runs. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch {
    throw misuse('The current folder has been deleted. Change to another one.')
  }
}
