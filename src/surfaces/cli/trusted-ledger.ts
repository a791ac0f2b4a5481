// The ledger that a command may open: one that was named, or one that was found and that the user trusts. At a terminal the user is
// asked once about any other.
import { createInterface } from 'node:readline'
import { isLedgerFile } from '../../ledger/find-ledger.ts'
import { judgeLedger, trustLedger, untrusted } from '../../ledger/trust.ts'
import type { CommandIo } from '../terminal/io.ts'
import { cleanText } from '../terminal/terminal-text.ts'
import { resolveLedger } from './ledger-path.ts'

interface Flags {
  ledger?: string | undefined
}

/** As `resolveLedger`. @throws ErrandError LEDGER_UNTRUSTED for a ledger that was found and that the user does not trust. */
export async function openableLedger(io: CommandIo, flags: Flags): Promise<string> {
  const ledger = resolveLedger(flags.ledger, io)
  const isNamed = (flags.ledger ?? io.env['ERRAND_LEDGER'] ?? '') !== ''
  if (isNamed || !isLedgerFile(ledger) || trustedHere.has(ledger)) return ledger
  const trust = judgeLedger(ledger, io.env)
  if (trust.verdict !== 'trusted') {
    const question = `The ledger ${ledger} is not trusted yet: ${trust.why}, and its tasks would run as you. Trust it?`
    if (trust.verdict === 'refused' || !(await saysYes(io, question))) throw untrusted(ledger, trust)
    await trustLedger(ledger, io.env)
  }
  trustedHere.add(ledger)
  return ledger
}

/** Ledgers that this process has checked, so that a second check neither runs git nor asks the user again. */
const trustedHere = new Set<string>()

/** Returns false without a terminal. */
async function saysYes(io: CommandIo, question: string): Promise<boolean> {
  const { keyboard } = io
  if (keyboard === undefined || io.stderr.isTTY !== true) return false
  io.stderr.write(`${cleanText(question)} [y/N] `)
  const lines = createInterface({ input: keyboard })
  try {
    return await new Promise<boolean>((resolve) => {
      lines.once('line', (line) => resolve(/^y(es)?$/i.test(line.trim())))
      lines.once('close', () => resolve(false))
    })
  } finally {
    lines.close()
  }
}
