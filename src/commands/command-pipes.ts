// The pipes for a command's input and output. Node connects children by sockets, and Linux does not open /dev/stdin,
// /dev/stdout and /dev/stderr where these are sockets, so `… | tee /dev/stderr` would fail. On Linux a command
// therefore gets real pipes, made from FIFOs that are unlinked before it starts.
import { type ChildProcess, execFile } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'

/** Our ends; `stdin` only when the input is still to be written. */
export interface CommandStreams {
  stdin: Writable | undefined
  stdout: Readable
  stderr: Readable
}

export interface CommandPipes {
  /** The command's ends, for `spawn`. */
  stdio: Array<'ignore' | 'pipe' | number>
  /** Call it once the child exists: returns our ends and closes the command's, otherwise its output would never end. */
  attach(child: ChildProcess): CommandStreams
  /** Closes everything when there will be no child. */
  discard(): void
}

/** @param stdin the input of the command; undefined: /dev/null. */
export async function openCommandPipes(stdin: string | undefined): Promise<CommandPipes> {
  if (process.platform !== 'linux') return openSockets(stdin)
  try {
    return await openFifos(stdin)
  } catch {
    // No folder for temporary files, or no `mkfifo`: sockets work for nearly every command.
    return openSockets(stdin)
  }
}

function openSockets(stdin: string | undefined): CommandPipes {
  return {
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    attach: (child) => ({ stdin: child.stdin ?? undefined, stdout: child.stdout!, stderr: child.stderr! }),
    discard: () => undefined,
  }
}

async function openFifos(stdin: string | undefined): Promise<CommandPipes> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-'))
  const descriptors: number[] = []
  const open = (path: string, flags: number) => {
    const descriptor = openSync(path, flags)
    descriptors.push(descriptor)
    return descriptor
  }
  try {
    const [stdoutPath, stderrPath, stdinPath] = [join(folder, 'stdout'), join(folder, 'stderr'), join(folder, 'stdin')]
    await promisify(execFile)('mkfifo', ['-m', '600', stdoutPath, stderrPath])
    const [stdout, stderr] = [openOutput(stdoutPath, open), openOutput(stderrPath, open)]
    // A file instead of a FIFO: a FIFO that has been written and closed can be read, but not opened by name again.
    if (stdin !== undefined) writeFileSync(stdinPath, stdin, { mode: 0o600 })
    const input = stdin === undefined ? undefined : open(stdinPath, constants.O_RDONLY)
    return {
      stdio: [input ?? 'ignore', stdout.theirs, stderr.theirs],
      attach() {
        for (const theirs of [input, stdout.theirs, stderr.theirs]) if (theirs !== undefined) closeSync(theirs)
        return {
          stdin: undefined,
          stdout: new Socket({ fd: stdout.ours, readable: true, writable: false }),
          stderr: new Socket({ fd: stderr.ours, readable: true, writable: false }),
        }
      },
      discard: () => descriptors.forEach(closeSync),
    }
  } catch (error) {
    descriptors.forEach(closeSync)
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Our end first: without a reader the other would not open. O_NONBLOCK only for ours; most commands cannot handle it.
 */
function openOutput(path: string, open: (path: string, flags: number) => number): { ours: number; theirs: number } {
  const ours = open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return { ours, theirs: open(path, constants.O_WRONLY) }
}
