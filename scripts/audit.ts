// Asks the registry which packages of the lock file have known vulnerabilities. Fails for one that is high or critical, in a tool of
// development too: such tools run on the machines of whoever builds this. A registry that gives no answer is no finding, and no clean
// bill either: then this says that nothing was audited, and does not fail.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { z } from 'zod'

const root = join(import.meta.dirname, '..')

const severities = ['info', 'low', 'moderate', 'high', 'critical'] as const

/** What `npm audit --json` prints when the registry has answered; anything else is no answer. */
const answerSchema = z.object({
  vulnerabilities: z.record(z.string(), z.object({ severity: z.enum(severities), range: z.string() })),
  metadata: z.object({ vulnerabilities: z.object(Object.fromEntries(severities.map((each) => [each, z.int()]))) }),
})

/** What it prints when there was none, as far as it says why. */
const failureSchema = z.object({ message: z.string().optional(), error: z.object({ summary: z.string() }).optional() })

export interface Audit {
  /** Null: nobody knows. */
  vulnerable: boolean | null
  /** In a sentence or a line for each finding. */
  says: string
}

/** What a report of `npm audit --json` says. */
export function judgeAudit(report: string): Audit {
  const json = parsed(report)
  const answer = answerSchema.safeParse(json)
  if (!answer.success) {
    return {
      vulnerable: null,
      says: `Not audited: the registry gave no answer (${whyNot(json)}). Whether there are known vulnerabilities is not known.`,
    }
  }
  const { vulnerabilities, metadata } = answer.data
  const grave = Object.entries(vulnerabilities).filter(([, { severity }]) => ['high', 'critical'].includes(severity))
  if (grave.length > 0) {
    return {
      vulnerable: true,
      says: grave.map(([name, { severity, range }]) => `${name} ${range}: ${severity}`).join('\n'),
    }
  }
  const lesser = severities.slice(0, 3).map((each) => `${metadata.vulnerabilities[each]} ${each}`)
  return { vulnerable: false, says: `Audited: no known vulnerability that is high or critical (${lesser.join(', ')}).` }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Without the address that was asked. */
function whyNot(json: unknown): string {
  const failure = failureSchema.safeParse(json)
  if (!failure.success) return 'npm made no report'
  const { message, error } = failure.data
  const why = message || error?.summary || 'it does not say why'
  return why.replace(/^request to \S+ failed, reason: /, '').replace(/ - [A-Z]+ \S+$/, '')
}

interface AuditOptions {
  /** Whose lock file is read. Default: that of the project. */
  folder?: string
  /** Default: the one that npm is configured for. */
  registry?: string
  /** Default 60,000. */
  withinMs?: number
}

/** Never rejects: what fails on the way is no answer. */
export function audit({ folder = root, registry, withinMs = 60_000 }: AuditOptions = {}): Promise<Audit> {
  const args = ['audit', '--json', '--package-lock-only', '--fetch-retries=1']
  if (registry !== undefined) args.push(`--registry=${registry}`)
  const options = { cwd: folder, timeout: withinMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 } as const
  return new Promise((resolve) => {
    execFile('npm', args, options, (_error, stdout) => resolve(judgeAudit(stdout)))
  })
}

if (import.meta.main) {
  const { vulnerable, says } = await audit()
  console.log(says)
  if (vulnerable) process.exitCode = 1
}
