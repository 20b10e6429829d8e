// `npm run build`: builds dist from src.
import { build } from "./fresh.mjs";

build();
