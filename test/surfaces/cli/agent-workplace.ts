// Runs the command line with agents: scripted models in files, input through a pipe, and a terminal on which a test types.
import { PassThrough, Readable } from 'node:stream'
import { main } from '../../../src/surfaces/cli/main.ts'
import type { CommandIo } from '../../../src/surfaces/terminal/io.ts'
import { type FakeIo, fakeIo } from './fake-io.ts'
import type { Ended, Workplace } from './workplace.ts'

export interface Called {
  io: FakeIo
  ended: Promise<Ended>
  /** Resolves when this has been written, to either output. */
  printed(pattern: RegExp): Promise<void>
}

/** In this process; `input` is what comes through the pipe. */
export function call(place: Workplace, args: string[], world: Partial<CommandIo> & { stdin?: string } = {}): Called {
  const { stdin, ...parts } = world
  const env = { ERRAND_LEDGER: `${place.folder}/ledger.db`, SHELL: '/bin/sh', ...parts.env } as Record<string, string>
  const io = fakeIo({ cwd: place.folder, env })
  const watchers = new Set<() => void>()
  const watched = (output: CommandIo['stdout']): CommandIo['stdout'] => ({
    ...output,
    write(text) {
      output.write(text)
      for (const watcher of watchers) watcher()
    },
  })
  const whole: CommandIo = {
    ...io,
    stdout: watched(io.stdout),
    stderr: watched(io.stderr),
    ...(stdin === undefined ? {} : { input: () => Readable.from([stdin]) }),
    ...parts,
    env,
  }
  const ended = main(args, whole).then((code) => ({ code, out: io.out(), err: io.err() }))
  const printed = async (pattern: RegExp): Promise<void> => {
    let over = false
    void ended.then(() => {
      over = true
      for (const watcher of watchers) watcher()
    })
    while (!pattern.test(io.out() + io.err())) {
      if (over) throw new Error(`It ended without printing ${pattern}:\n${io.out()}${io.err()}`)
      await new Promise<void>((resolve) => watchers.add(resolve))
    }
  }
  return { io, ended, printed }
}

/** A keyboard that a test types on. */
export function keyboard() {
  const raw: boolean[] = []
  const keys = Object.assign(new PassThrough(), {
    setRawMode(on: boolean) {
      raw.push(on)
      return keys
    },
    isTTY: true,
  })
  return { keys, raw }
}

/** A terminal as `readline` needs it. */
export function screen() {
  const written: string[] = []
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })
  output.on('data', (piece: Buffer) => written.push(piece.toString()))
  return { output, text: () => written.join('') }
}
