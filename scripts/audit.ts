// Requests the known vulnerabilities of the packages in the lock file from the registry. Fails for a high or critical one, in
// development tools too, because they run on the machines of developers. If the registry does not answer, the script reports that
// nothing was audited, and does not fail.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { z } from 'zod'

const root = join(import.meta.dirname, '..')

const severities = ['info', 'low', 'moderate', 'high', 'critical'] as const

/** The output of `npm audit --json` when the registry has answered; any other output means that it has not. */
const answerSchema = z.object({
  vulnerabilities: z.record(z.string(), z.object({ severity: z.enum(severities), range: z.string() })),
  metadata: z.object({ vulnerabilities: z.object(Object.fromEntries(severities.map((each) => [each, z.int()]))) }),
})

/** The output without an answer, with the reason if there is one. */
const failureSchema = z.object({ message: z.string().optional(), error: z.object({ summary: z.string() }).optional() })

export interface Audit {
  /** Null: unknown, because the registry did not answer. */
  vulnerable: boolean | null
  /** A sentence, or one line per finding. */
  message: string
}

/** Evaluates the output of `npm audit --json`. */
export function judgeAudit(report: string): Audit {
  const json = parsed(report)
  const answer = answerSchema.safeParse(json)
  if (!answer.success) {
    return {
      vulnerable: null,
      message: `Not audited: the registry gave no answer (${whyNot(json)}). Whether there are known vulnerabilities is not known.`,
    }
  }
  const { vulnerabilities, metadata } = answer.data
  const grave = Object.entries(vulnerabilities).filter(([, { severity }]) => ['high', 'critical'].includes(severity))
  if (grave.length > 0) {
    return {
      vulnerable: true,
      message: grave.map(([name, { severity, range }]) => `${name} ${range}: ${severity}`).join('\n'),
    }
  }
  const lesser = severities.slice(0, 3).map((each) => `${metadata.vulnerabilities[each]} ${each}`)
  return {
    vulnerable: false,
    message: `Audited: no known vulnerability that is high or critical (${lesser.join(', ')}).`,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The reason without the address of the registry. */
function whyNot(json: unknown): string {
  const failure = failureSchema.safeParse(json)
  if (!failure.success) return 'npm made no report'
  const { message, error } = failure.data
  const why = message || error?.summary || 'it does not say why'
  return why.replace(/^request to \S+ failed, reason: /, '').replace(/ - [A-Z]+ \S+$/, '')
}

interface AuditOptions {
  /** The folder of the lock file. Default: the project. */
  folder?: string
  /** Default: the registry that npm is configured for. */
  registry?: string
  /** Default 60,000. */
  withinMs?: number
}

/** Never rejects: a failure counts as no answer. */
export function audit({ folder = root, registry, withinMs = 60_000 }: AuditOptions = {}): Promise<Audit> {
  const args = ['audit', '--json', '--package-lock-only', '--fetch-retries=1']
  if (registry !== undefined) args.push(`--registry=${registry}`)
  const options = { cwd: folder, timeout: withinMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 } as const
  return new Promise((resolve) => {
    execFile('npm', args, options, (_error, stdout) => resolve(judgeAudit(stdout)))
  })
}

if (import.meta.main) {
  const { vulnerable, message } = await audit()
  console.log(message)
  if (vulnerable) process.exitCode = 1
}
