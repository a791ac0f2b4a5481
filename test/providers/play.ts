// Plays the scenario of a family in processes of their own, to its end or to a kill.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { programOf } from '../programs.ts'
import { type Family, families } from './families.ts'
import { type Provider, type ProviderServer, serveProvider } from './server.ts'

const program = programOf(import.meta.dirname, 'agent-process.ts')

export interface Played {
  outcome: { status: string; result?: unknown; error?: { message: string } }
  /** The number of answers in each request to the model. */
  asked: readonly number[]
  refused: readonly string[]
}

/** @param killedAfter the number of answers at whose request the first process is killed; none: it plays to the end. */
export async function play(family: string, killedAfter?: number, provider?: Provider): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-family-'))
  await using server = await serveProvider(provider ?? (families[family] as Family).provider)
  try {
    const ledger = join(folder, 'ledger.db')
    if (killedAfter !== undefined) await playUntilKilled(family, server, ledger, killedAfter)
    const child = start(family, server, ledger)
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
    return {
      outcome: (JSON.parse(said) as Pick<Played, 'outcome'>).outcome,
      asked: server.asked,
      refused: server.refused,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function start(family: string, server: ProviderServer, ledger: string) {
  return spawn(process.execPath, [program, family, server.url, ledger], { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function playUntilKilled(
  family: string,
  server: ProviderServer,
  ledger: string,
  killedAfter: number,
): Promise<void> {
  const child = start(family, server, ledger)
  child.stdout.resume()
  server.beforeAnswer = (answers) => {
    if (answers < killedAfter) return
    server.beforeAnswer = () => {}
    child.kill('SIGKILL')
  }
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  if (signal !== 'SIGKILL') throw new Error(`the agent ended with ${code} before it was killed`)
}
