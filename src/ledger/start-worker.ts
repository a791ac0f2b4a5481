// Starts a thread whose module lies beside that of its starter.
import { Worker } from 'node:worker_threads'

/**
 * The thread does not keep the process alive. `name` is that of its file without an extension, `beside` the URL of its starter.
 * @throws what `new Worker` throws
 */
export function startWorker(name: string, beside: string, workerData: unknown): Worker {
  const file = new URL(`./${name}${beside.endsWith('.ts') ? '.ts' : '.js'}`, beside)
  // A program that is given to Node as text passes on that it is a module, which a thread with a file refuses.
  const isText = process.execArgv.some((each) => each.startsWith('--input-type'))
  const worker = new Worker(file, { workerData, ...(isText ? { execArgv: [] } : {}) })
  worker.unref()
  return worker
}
