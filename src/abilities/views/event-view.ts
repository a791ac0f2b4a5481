// Input and output fields for positions of the feed.
import { z } from 'zod'

export const positionSchema = z.int().min(0)
