// Finds the ledger of a folder when none is named: `.errand/ledger.db` there or above, up to the user's home; else the one in git's common
// directory (so that all worktrees of a repository share it); else `.errand/ledger.db` in the folder.
import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Environment, homeOf } from './home.ts'

const besideWork = join('.errand', 'ledger.db')

/** The path of a ledger that may not exist yet. `env`: the environment of git. */
export function findLedger(cwd: string, env: Environment): string {
  return findUpwards(cwd, homeOf(env)) ?? inGitDirectory(cwd, env) ?? join(cwd, besideWork)
}

function findUpwards(from: string, home: string | undefined): string | undefined {
  const end = home !== undefined && existsSync(home) ? realpathSync(home) : home
  for (let folder = from; ; folder = dirname(folder)) {
    const ledger = join(folder, besideWork)
    if (existsSync(ledger)) return ledger
    if (folder === end || folder === home || dirname(folder) === folder) return undefined
  }
}

function inGitDirectory(cwd: string, env: Environment): string | undefined {
  try {
    const common = execFileSync('git', ['rev-parse', '--git-common-dir'], {
      cwd,
      env: { ...env } as NodeJS.ProcessEnv,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
    return common === '' ? undefined : join(resolve(cwd, common), 'errand', 'ledger.db')
  } catch {
    return undefined // no git here, or no repository: then the ledger lies beside the work
  }
}

/** False for a ledger that is not a file of this machine. */
export function isLedgerFile(ledger: string): boolean {
  return ledger !== ':memory:' && !/^[a-z][a-z0-9+.-]+:\/\//i.test(ledger)
}
