// A copy in a process that is killed when it has reported some progress.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { CopyProgress } from '../../../src/ledger/copy/copy-ledger.ts'
import { programOf } from '../../programs.ts'

/** Copies until `dies` says so; resolves to whether the process was killed before it was done. */
export async function copyUntil(from: string, to: string, dies: (progress: CopyProgress) => boolean): Promise<boolean> {
  const child = spawn(process.execPath, [programOf(import.meta.dirname, 'copy-process.ts'), from, to], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as CopyProgress
    if ('doing' in line && dies(line)) child.kill('SIGKILL')
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`the copy ended with ${code ?? signal}`)
  return signal === 'SIGKILL'
}
