// Starts a thread whose module lies beside that of its starter.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { packageFolder } from '../core/package-folder.ts'

/**
 * The thread does not keep the process alive. `name` is that of its file without an extension, `beside` the URL of its starter. Undefined in the
 * bundle of an application that has left the file behind, unless the package is installed there.
 * @throws what `new Worker` throws
 */
export function startWorker(name: string, beside: string | undefined, workerData: unknown): Worker | undefined {
  const file = fileOf(name, beside)
  if (file === undefined) return undefined
  // A program that is given to Node as text passes on that it is a module, which a thread with a file refuses.
  const isText = process.execArgv.some((each) => each.startsWith('--input-type'))
  const worker = new Worker(file, { workerData, ...(isText ? { execArgv: [] } : {}) })
  worker.unref()
  return worker
}

function fileOf(name: string, beside: string | undefined): string | undefined {
  const folder = packageFolder()
  const files = [
    ...(beside === undefined
      ? []
      : [fileURLToPath(new URL(`./${name}${beside.endsWith('.ts') ? '.ts' : '.js'}`, beside))]),
    ...(folder === undefined ? [] : [join(folder, 'dist/chunks', `${name}.js`)]),
  ]
  return files.find((file) => existsSync(file))
}
