// A shell command as a process group behind a gate: the group exists and can be stored before the command does
// anything; if the engine dies before it opens the gate, nothing runs. The command has ended when everything that it
// started has ended. Independent of the engine.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, constants, constants as fileModes, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { constants as system, tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import type { Duplex, Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import type { Clock } from '../core/clock.ts'
import { Failure } from '../core/errors.ts'
import { isNode } from '../core/runtime.ts'
import { waitAtMost } from '../core/signals.ts'
import { abbreviated, type CommandOutput } from './command-output.ts'
import { describeProcessGroup, type ProcessGroup, terminate } from './process-group.ts'

export interface CommandSpec {
  /** The command line for the shell. */
  command: string
  shell: string
  /** Default: the working directory of the engine. */
  cwd: string | undefined
  environment: NodeJS.ProcessEnv
  /** Undefined: /dev/null. */
  stdin: string | undefined
  /** `NAME=value` in the environment that distinguishes the processes of this command from all others. */
  mark: string
  output: CommandOutput
  killGraceMs: number
  clock: Clock
}

/** As the shell reports it: a signal is exit code 128 + its number. */
export interface Exit {
  exitCode: number
  signal: NodeJS.Signals | null
}

/** What `gateCommand` does before anything runs. */
export interface Gate {
  /** Stores the group, so that recovery can end what a dead engine left running. */
  note(group: ProcessGroup): Promise<void> | undefined
  /** If it has aborted by then, the command never runs. */
  signal: AbortSignal
}

/**
 * Opens the gate. Settles only when nothing of the command runs any more, background processes included, however long
 * that takes: a command that hangs inside the kernel is waited for.
 * @throws the signal's reason when it aborted while the command ran; the group has ended by then.
 */
export type StartCommand = (signal: AbortSignal) => Promise<Exit>

// `read` fails at the end of the file: when the engine has closed the gate, or died. The command must not inherit the
// gate.
const gateScript = 'read -r go <&3 || exit 125; exec 3<&-; exec "$0" -c "$1"'
const gateDescriptor = 3

/**
 * Output that a command left behind arrives within one turn of the event loop. A pipe that another process holds open
 * is given up after `maxQuietTurns` without output, or `maxDrainTurns` in all.
 */
const drainTurnMs = 25
const maxQuietTurns = 8
const maxDrainTurns = 80

/**
 * Puts a command behind its gate and stores its group. The caller must call the returned function.
 * @throws Failure SPAWN_FAILED when the command cannot be started; what `note` throws; the reason of an aborted signal.
 * In all these cases nothing has run and nothing will.
 */
export async function gateCommand(spec: CommandSpec, { note, signal: early }: Gate): Promise<StartCommand> {
  await requireFolder(spec)
  await requireShell(spec)
  const pipes = await openCommandPipes(spec.stdin)
  const child = await spawnGate(spec, pipes)
  const exited = new Promise<Exit>((settle) => child.once('exit', (code, signal) => settle(toExit(code, signal))))
  const streams = pipes.attach(child)
  const drain = follow(streams, spec)
  const gate = child.stdio[gateDescriptor] as Duplex
  // A gate that was killed shows as the exit of the command.
  gate.on('error', () => gate.destroy())

  const abandon = async () => {
    // The closed gate would end by itself. Nothing has run behind it, so it can be killed at once.
    gate.destroy()
    child.kill('SIGKILL')
    await exited
    destroy(streams)
  }
  const group = await describeProcessGroup(child.pid!, spec.mark).catch((error: Error) => error)
  if (group === undefined || group instanceof Error) {
    await abandon()
    throw spawnFailure(spec, `its process group cannot be described (${group?.message ?? 'it has ended'})`, group)
  }
  try {
    await note(group)
    early.throwIfAborted()
  } catch (error) {
    await abandon()
    throw error
  }
  let ending: Promise<void> | undefined
  const end = () => (ending ??= terminate(group, { graceMs: spec.killGraceMs, clock: spec.clock }))

  return async (signal) => {
    gate.end('go\n', () => gate.destroy())
    streams.stdin?.end(spec.stdin)
    try {
      const exit = await untilExit(exited, signal, end)
      // What the leader left running belongs to the command and is ended with it, after its pending output is read.
      await drain()
      await end()
      await drain()
      if (exit === 'aborted') throw signal.reason
      return exit
    } finally {
      gate.destroy()
      destroy(streams)
      spec.output.stdout.finish()
      spec.output.stderr.finish()
    }
  }
}

/** Resolves to the exit of the leader, or `aborted` when the signal ended it. */
async function untilExit(
  exited: Promise<Exit>,
  signal: AbortSignal,
  end: () => Promise<void>,
): Promise<Exit | 'aborted'> {
  let aborted = false
  const abort = () => {
    aborted = true
    void end()
  }
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  const exit = await exited
  signal.removeEventListener('abort', abort)
  return aborted ? 'aborted' : exit
}

/** Passes on the output of the command; the returned function waits for the rest, within the limits above. */
function follow(streams: CommandStreams, spec: CommandSpec): () => Promise<void> {
  let chunks = 0
  const outputs: Array<[Readable, 'stdout' | 'stderr']> = [
    [streams.stdout, 'stdout'],
    [streams.stderr, 'stderr'],
  ]
  for (const [stream, name] of outputs) {
    stream.on('data', (chunk: Buffer) => {
      chunks += 1
      spec.output[name].push(chunk)
    })
  }
  // A command may exit without reading its input to the end.
  streams.stdin?.on('error', () => streams.stdin?.destroy())
  const closed = Promise.allSettled(outputs.map(([stream]) => finished(stream)))
  return async () => {
    let quietTurns = 0
    for (let turn = 0; turn < maxDrainTurns && quietTurns < maxQuietTurns; turn++) {
      const before = chunks
      if (await waitAtMost(spec.clock, drainTurnMs, closed)) return
      quietTurns = chunks === before ? quietTurns + 1 : 0
    }
  }
}

function destroy(streams: CommandStreams): void {
  streams.stdin?.destroy()
  streams.stdout.destroy()
  streams.stderr.destroy()
}

async function spawnGate(spec: CommandSpec, pipes: CommandPipes): Promise<ChildProcess> {
  try {
    const child = spawn('/bin/sh', ['-c', gateScript, spec.shell, spec.command], {
      cwd: spec.cwd,
      env: spec.environment,
      // A session and a process group of its own: it can be ended as a whole, and Ctrl-C in our terminal does not reach
      // it.
      detached: true,
      stdio: [...pipes.stdio, 'pipe'],
    })
    // Without a pid, the event `error` carries the reason.
    if (child.pid === undefined) throw await new Promise((settle) => child.once('error', settle))
    return child
  } catch (error) {
    pipes.discard()
    throw spawnFailure(spec, whyNotSpawned(error as NodeJS.ErrnoException), error)
  }
}

async function requireFolder(spec: CommandSpec): Promise<void> {
  if (spec.cwd === undefined) return
  const folder = await stat(spec.cwd).catch((error: NodeJS.ErrnoException) => error)
  if (folder instanceof Error) {
    const why = folder.code === 'ENOENT' ? 'does not exist' : `cannot be entered (${folder.code})`
    throw spawnFailure(spec, `its working directory ${resolve(spec.cwd)} ${why}`, folder)
  }
  if (!folder.isDirectory()) throw spawnFailure(spec, `its working directory ${resolve(spec.cwd)} is not a directory`)
}

/** Checked in advance: once started, a missing shell could not be distinguished from a command that exits with 127. */
async function requireShell(spec: CommandSpec): Promise<void> {
  const folder = spec.cwd ?? '.'
  const search = spec.environment['PATH'] ?? '/usr/bin:/bin'
  const candidates = spec.shell.includes('/')
    ? [resolve(folder, spec.shell)]
    : search.split(delimiter).map((entry) => resolve(folder, entry, spec.shell))
  const usable = await Promise.all(
    candidates.map((path) =>
      access(path, fileModes.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  )
  if (usable.includes(true)) return
  throw spawnFailure(spec, `its shell ${spec.shell} does not exist or is not executable. Name another with \`shell\``)
}

/** Errors that may pass, unlike a missing folder. */
const transientCodes = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])

function spawnFailure(spec: CommandSpec, why: string, cause?: unknown): Failure {
  return new Failure(`Cannot start \`${abbreviated(spec.command)}\`: ${why}.`, {
    code: 'SPAWN_FAILED',
    retry: transientCodes.has((cause as NodeJS.ErrnoException | undefined)?.code ?? ''),
    details: { command: spec.command, cwd: spec.cwd ?? null, shell: spec.shell },
    cause,
  })
}

function whyNotSpawned(error: NodeJS.ErrnoException): string {
  if (error.code !== 'E2BIG') return `the system refuses it (${error.message})`
  return 'the command or its environment exceeds the limit of the system (128 KiB per string on Linux). Put it into a file'
}

function toExit(code: number | null, signal: NodeJS.Signals | null): Exit {
  return { exitCode: code ?? 128 + (signal === null ? 0 : system.signals[signal]), signal }
}

// The pipes for a command's input and output. Node connects children by sockets, and Linux does not open /dev/stdin,
// /dev/stdout and /dev/stderr where these are sockets, so `… | tee /dev/stderr` would fail. On Linux a command
// therefore gets real pipes, made from FIFOs that are unlinked before it starts. Bun and Deno cannot read these: there a
// command gets what they connect children by.

/** Our ends; `stdin` only when the input is still to be written. */
interface CommandStreams {
  stdin: Writable | undefined
  stdout: Readable
  stderr: Readable
}

interface CommandPipes {
  /** The command's ends, for `spawn`. */
  stdio: Array<'ignore' | 'pipe' | number>
  /** Call it once the child exists: returns our ends and closes the command's, otherwise its output would never end. */
  attach(child: ChildProcess): CommandStreams
  /** Closes everything when there will be no child. */
  discard(): void
}

/** @param stdin the input of the command; undefined: /dev/null. */
async function openCommandPipes(stdin: string | undefined): Promise<CommandPipes> {
  if (process.platform !== 'linux' || !isNode()) return openSockets(stdin)
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
