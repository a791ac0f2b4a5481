// Child processes that open a ledger. They read commands from stdin and report on stdout.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { programOf } from '../../programs.ts'

export interface Child {
  readonly process: ChildProcess
  /** Resolves with the next line that it prints; rejects when it ends instead. */
  nextLine(): Promise<string>
  send(line: string): void
  /** Kills it without a chance to clean up; resolves when it has ended. */
  kill(): Promise<void>
  /** Resolves with its exit code. */
  ended(): Promise<number | null>
  /** Resolves with its exit code and what it has printed on stderr. */
  report(): Promise<{ code: number | null; stderr: string }>
}

/** Starts `child-engine.ts` on a ledger. */
export function startChild(...parameters: string[]): Child {
  const child = spawn(process.execPath, [programOf(import.meta.dirname, 'child-engine.ts'), ...parameters], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const waiting: Array<{ resolve(line: string): void; reject(error: Error): void }> = []
  let stderr = ''
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  createInterface(child.stdout).on('line', (line) => {
    const next = waiting.shift()
    if (next) next.resolve(line)
    else lines.push(line)
  })
  const exit = once(child, 'close') as Promise<[number | null]>
  void exit.then(() => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`the child has ended: ${stderr}`))
  })
  return {
    process: child,
    nextLine() {
      const line = lines.shift()
      if (line !== undefined) return Promise.resolve(line)
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    },
    send: (line) => child.stdin.write(`${line}\n`),
    async kill() {
      child.kill('SIGKILL')
      await exit
    },
    ended: async () => (await exit)[0],
    report: async () => ({ code: (await exit)[0], stderr }),
  }
}
