// A shell command as a process group behind a gate: the group exists and can be noted durably before the command does
// anything; if its engine dies before it says go, nothing runs. Its end is the end of all that it started. Knows no engine.
import { type ChildProcess, spawn } from 'node:child_process'
import { constants as fileModes } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { constants as system } from 'node:os'
import { delimiter, resolve } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Clock } from '../core/clock.ts'
import { Failure } from '../core/errors.ts'
import { waitAtMost } from '../core/signals.ts'
import type { CommandOutput } from './command-output.ts'
import { type CommandPipes, type CommandStreams, openCommandPipes } from './command-pipes.ts'
import { describeProcessGroup, type ProcessGroup, terminate } from './process-group.ts'

export interface CommandSpec {
  /** What the shell is to run. */
  command: string
  shell: string
  /** Default: the engine's own. */
  cwd: string | undefined
  environment: NodeJS.ProcessEnv
  /** Undefined: /dev/null. */
  stdin: string | undefined
  /** `NAME=value` of the environment that tells this command's processes from all others. */
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
  /** Notes the group durably, so that recovery can end what a dead engine left running. */
  note(group: ProcessGroup): Promise<void> | undefined
  /** Aborted by then, the command never runs. */
  signal: AbortSignal
}

/**
 * Opens the gate. Settles only when nothing of the command runs any more, background processes included, however long that takes: a
 * command that hangs inside the kernel is waited for.
 * @throws the signal's reason when it aborted while the command ran; the group has gone then, too.
 */
export type StartCommand = (signal: AbortSignal) => Promise<Exit>

// `read` fails at the end of the file: when the engine has shut the gate, or died. The command must not inherit the gate.
const gateScript = 'read -r go <&3 || exit 125; exec 3<&-; exec "$0" -c "$1"'
const gateDescriptor = 3

/**
 * Output that a command left behind arrives within one turn of the event loop; a process that holds the pipe is given up
 * after so many turns without any, or so many in all when it never falls silent.
 */
const drainTurnMs = 25
const maxQuietTurns = 8
const maxDrainTurns = 80

/**
 * Puts a command behind its gate and notes its group. Whoever gets the function that starts it must call it.
 * @throws Failure SPAWN_FAILED when it cannot be started; what `note` throws; the reason of an aborted signal. Then nothing has run and
 *   nothing will.
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
    // The shut gate would end by itself. Nothing has run behind it, so there is no reason to wait until it does.
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
      // What the leader left running belongs to the command and ends with it; but first let it print what it has to say.
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

/** Resolves with the leader's exit, or `aborted` when it was made to exit. */
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

/** Passes on what the command prints; the function that it returns waits for the rest, though not for ever. */
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
  // A command need not read its input to the end.
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
      // A session and a process group of its own: it can be ended as a whole, and Ctrl-C in our terminal does not reach it.
      detached: true,
      stdio: [...pipes.stdio, 'pipe'],
    })
    // Without a pid it is the event `error` that says why.
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

/** Asked beforehand: afterwards a missing shell could not be told from a command that exits with 127. */
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

/** What may be better in a moment, unlike a folder that is missing. */
const passing = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])

function spawnFailure(spec: CommandSpec, why: string, cause?: unknown): Failure {
  return new Failure(`Cannot start \`${abbreviated(spec.command)}\`: ${why}.`, {
    code: 'SPAWN_FAILED',
    retry: passing.has((cause as NodeJS.ErrnoException | undefined)?.code ?? ''),
    details: { command: spec.command, cwd: spec.cwd ?? null, shell: spec.shell },
    cause,
  })
}

function whyNotSpawned(error: NodeJS.ErrnoException): string {
  if (error.code !== 'E2BIG') return `the system refuses it (${error.message})`
  return 'command or environment are longer than the system takes (128 KiB each on Linux). Put it into a file'
}

/** The command as messages quote it: its first line, and not all of a long one. */
export function abbreviated(command: string): string {
  const [line = ''] = command.trim().split('\n', 1)
  const short = line.length > 200 ? line.slice(0, 200).toWellFormed() : line
  return short === command.trim() ? short : `${short}…`
}

function toExit(code: number | null, signal: NodeJS.Signals | null): Exit {
  return { exitCode: code ?? 128 + (signal === null ? 0 : system.signals[signal]), signal }
}
