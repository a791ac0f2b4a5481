// Starts members of a team in processes of their own; all are ready before the first begins.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { programOf } from '../programs.ts'
import type { WorkReport } from './board-worker.ts'

export interface Worker {
  ready: Promise<void>
  go(): Promise<WorkReport>
  /** Kills the process. */
  end(): Promise<void>
}

export function startWorker(ledger: string, as: string, total: number): Worker {
  const script = programOf(import.meta.dirname, 'board-worker.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ledger, as, String(total)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    ready: lines.next().then(() => {}),
    async go() {
      child.stdin.write('go\n')
      return JSON.parse((await lines.next()).value as string) as WorkReport
    },
    async end() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
