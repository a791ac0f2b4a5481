// A folder with a ledger, and the command line in it: in a process (the built program, with the Node that runs the tests) or in
// this one. Tests wait for lines and exits, never for a time.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Task } from '../../../src/entities/task.ts'
import { main } from '../../../src/surfaces/cli/main.ts'
import { fakeIo } from './fake-io.ts'

export const binFile = fileURLToPath(new URL('../../../dist/bin.js', import.meta.url))

export interface Ended {
  code: number | null
  out: string
  err: string
}

/** A running `errand`. */
export class ErrandProcess {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  #out = ''
  #err = ''
  readonly #watchers = new Set<() => void>()

  constructor(cwd: string, env: NodeJS.ProcessEnv, args: readonly string[]) {
    this.child = spawn(process.execPath, [binFile, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#take(() => (this.#out += text)))
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#take(() => (this.#err += text)))
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code) => {
        resolve({ code, out: this.#out, err: this.#err })
        this.#take(() => {})
      })
    })
  }

  /** Resolves when the output contains this. */
  async printed(pattern: RegExp): Promise<void> {
    let over: Ended | undefined
    void this.ended.then((ended) => (over = ended))
    while (!pattern.test(this.#out + this.#err)) {
      if (over !== undefined) throw new Error(`It ended without printing ${pattern}:\n${over.out}${over.err}`)
      await new Promise<void>((resolve) => this.#watchers.add(resolve))
    }
  }

  /** The output on stdout so far. */
  text(): string {
    return this.#out
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  #take(change: () => void): void {
    change()
    const watchers = [...this.#watchers]
    this.#watchers.clear()
    for (const watcher of watchers) queueMicrotask(watcher)
  }
}

/** A folder with a ledger, in which `errand` can be started; deleted at the end of the block. */
export class Workplace implements AsyncDisposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'errand-cli-')))
  readonly #env: NodeJS.ProcessEnv
  readonly #started: ErrandProcess[] = []

  constructor() {
    const { NO_COLOR: _noColor, ...env } = process.env
    this.#env = { ...env, ERRAND_LEDGER: join(this.folder, 'ledger.db'), SHELL: '/bin/sh' }
  }

  /** What a command that creates the ledger prints on stderr. */
  get newLedger(): string {
    return `Creating a new ledger: ${join(this.folder, 'ledger.db')}\n`
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text)
  }

  /** Lines of a file; none if it does not exist. */
  lines(file: string): string[] {
    try {
      return readFileSync(join(this.folder, file), 'utf8').split('\n').slice(0, -1)
    } catch {
      return []
    }
  }

  /** In a new process. */
  start(...args: string[]): ErrandProcess {
    const started = new ErrandProcess(this.folder, this.#env, args)
    this.#started.push(started)
    return started
  }

  /**
   * In this process, which saves the time of starting one: for tests that need neither signals nor a second process.
   */
  async errand(...args: string[]): Promise<Ended> {
    const io = fakeIo({ cwd: this.folder, env: this.#env as Record<string, string> })
    return { code: await main(args, io), out: io.out(), err: io.err() }
  }

  async tasks(): Promise<Task[]> {
    const { out } = await this.errand('ps', '--all', '--json')
    return out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Task)
  }

  async task(name: string): Promise<Task> {
    const found = (await this.tasks()).filter((task) => task.name === name).sort((a, b) => b.seq - a.seq)[0]
    if (found === undefined) throw new Error(`There is no task ${name}`)
    return found
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#started) if (child.exitCode === null) child.kill('SIGKILL')
    await Promise.all(this.#started.map((each) => each.ended))
    // A server whose client disconnects later may still write there.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}
